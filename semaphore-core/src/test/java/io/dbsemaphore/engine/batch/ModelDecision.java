package io.dbsemaphore.engine.batch;

import static io.dbsemaphore.engine.batch.QueueModel.require;

import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.Allocation;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Who of the callers of a semaphore with shares must have been granted permits by one transaction, by the {@link ModelShares}. */
final class ModelDecision {

    private final String name;
    private final int capacity;
    private final long free;
    private final ModelShares shares;
    private final boolean isWindowOpen;
    private final List<ModelShares.Caller> callers = new ArrayList<>();

    ModelDecision(String name, int capacity, long free, ModelShares shares, boolean isWindowOpen) {
        this.name = name;
        this.capacity = capacity;
        this.free = free;
        this.shares = shares;
        this.isWindowOpen = isWindowOpen;
    }

    /** The acquires to be decided that wait. */
    ModelDecision withMembers(List<AcquireState> asking, Places places) {
        asking.stream()
                .filter(each -> each.isWillingToWait() || each.hasWaited())
                .filter(each -> !each.charges().get(name).exceeds(capacity)) // it takes no turn
                .forEach(each -> add(
                        each,
                        new Waiter(
                                each.position().refused(places).place(),
                                each.charges().get(name),
                                each.isOfSeveral(),
                                0,
                                each.share()),
                        1));
        return this;
    }

    ModelDecision with(List<Waiter> waiting, long instance) {
        waiting.forEach(each -> add(each, each, instance));
        return this;
    }

    ModelDecision with(WaitersElsewhere elsewhere) {
        elsewhere.queues().forEach(queue -> with(queue.first(), queue.instance()));
        return this;
    }

    private void add(Object id, Waiter waiter, long instance) {
        callers.add(new ModelShares.Caller(
                id,
                waiter.share(),
                waiter.place().at(),
                instance,
                callers.size(),
                waiter.ask().needs(capacity),
                waiter.ofSeveral()));
    }

    void check(Allocation allocation, ShareTags after) {
        shares.begin();
        callers.forEach(each -> shares.limit(each.share()));
        List<ModelShares.Caller> order = shares.inOrder(callers, isWindowOpen);
        List<ModelShares.Caller> waiting = new ArrayList<>(callers);
        Set<Object> granted = new HashSet<>();
        long left = free;
        long leftByWaiting = free;
        for (Allocation.Approval approval : allocation.approvals()) {
            for (Allocation.Share each : approval.shares()) {
                if (each.name().equals(name)) {
                    left -= each.count();
                    granted.add(approval.acquire());
                    leftByWaiting -= waiting.removeIf(caller -> caller.id() == approval.acquire()) ? each.count() : 0;
                    shares.grant(approval.acquire().share(), each.count(), waiting);
                }
            }
        }
        shares.end(waiting);
        checkTurns(order, allocation, granted, leftByWaiting);
        checkOthers(allocation, waiting);
        checkTags(after);
    }

    private void checkTurns(List<ModelShares.Caller> order, Allocation allocation, Set<Object> granted, long left) {
        long ahead = 0;
        long ofNewMembers = 0; // of several semaphores, which are decided in the order of the batch
        for (ModelShares.Caller each : order) {
            long before = ahead - (each.ofSeveral() ? ofNewMembers : 0);
            if (each.id() instanceof AcquireState acquire && granted.contains(acquire)) {
                require(
                        before == 0 || left >= before,
                        () -> "Granted before its turn at " + name + ": " + each + " of " + order);
                continue;
            }
            boolean isRejected = each.id() instanceof AcquireState acquire
                    && allocation.rejections().containsKey(acquire);
            boolean isRefused = each.id() instanceof AcquireState acquire
                    && allocation.refusals().containsKey(acquire);
            require(
                    !isRefused || each.ofSeveral() || left < before + each.permits(),
                    () -> "Refused although it is its turn at " + name + ": " + each + " of " + order);
            boolean waits = !isRejected && (!(each.id() instanceof AcquireState acquire) || acquire.isWillingToWait());
            long withheld = waits && (isWindowOpen || !each.ofSeveral()) ? each.permits() : 0;
            ahead += withheld;
            ofNewMembers += each.id() instanceof AcquireState acquire && !acquire.hasWaited() ? withheld : 0;
        }
    }

    /** Those without a wait time stand behind all that wait in other instances, unless they have joined their line before. */
    private void checkOthers(Allocation allocation, List<ModelShares.Caller> waiting) {
        long ahead = waiting.stream()
                .filter(each -> each.instance() != 1)
                .filter(each -> isWindowOpen || !each.ofSeveral())
                .mapToLong(ModelShares.Caller::permits)
                .sum();
        long left = free;
        for (Allocation.Approval approval : allocation.approvals()) { // in the order in which they were decided
            AcquireState acquire = approval.acquire();
            for (Allocation.Share each : approval.shares()) {
                left -= each.name().equals(name) ? each.count() : 0;
            }
            boolean isBehindAll = !acquire.isWillingToWait()
                    && !acquire.hasWaited()
                    && !acquire.position().isInLine();
            long leftToOthers = left;
            require(
                    ahead == 0
                            || leftToOthers >= ahead
                            || !isBehindAll
                            || !acquire.charges().containsKey(name),
                    () -> "Granted without a wait time before others at " + name + ": " + acquire + " of " + waiting);
        }
    }

    private void checkTags(ShareTags after) {
        require(after.time() == shares.time(), () -> "Time of " + name + ": " + after.time());
        for (ModelShares.Caller each : callers) {
            Share share = each.share();
            int ofTenant = ModelShares.weight(share.tenant());
            int ofKey = ModelShares.weight(share.keyPath());
            require(
                    after.tenantTag(share, ofTenant, capacity) == shares.tenantTag(share),
                    () -> "The tag of the tenant of " + share + " at " + name + ": "
                            + after.tenantTag(share, ofTenant, capacity) + " instead of " + shares.tenantTag(share));
            require(
                    after.keyTag(share, ofKey, capacity)
                                    - after.tenant(share.tenant()).keysTime()
                            == shares.keyAhead(share),
                    () -> "The tag of the key " + share + " at " + name);
        }
    }
}
