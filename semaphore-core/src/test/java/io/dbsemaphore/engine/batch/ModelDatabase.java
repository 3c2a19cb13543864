package io.dbsemaphore.engine.batch;

import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.Allocation;
import io.dbsemaphore.domain.BatchOutcomes;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.SemaphoreAvailability;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.line.ReservationWindow;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The semaphores and grants of a schedule: what the transactions do to a database, without one. */
final class ModelDatabase {

    private LocalDateTime now = Values.NOW;
    private final Map<String, Row> rows = new TreeMap<>();
    private final Map<String, StoredGrant> grants = new LinkedHashMap<>();
    private List<AcquireCommand> newlyGranted = List.of();
    private Map<String, List<Waiter>> told = Map.of();
    private long ids;

    private static final class Row {

        private final long id;
        private final int capacity;
        private long held;
        private int exclusive;
        private long fence;
        private int others;
        private boolean locked;

        private Row(long id, int capacity) {
            this.id = id;
            this.capacity = capacity;
        }

        private long free() {
            return exclusive > 0 ? 0 : capacity - held;
        }
    }

    void create(String name, int capacity) {
        rows.put(name, new Row(rows.size() + 1L, capacity));
    }

    List<String> names() {
        return List.copyOf(rows.keySet());
    }

    int capacity(String name) {
        return rows.get(name).capacity;
    }

    long free(String name) {
        return rows.get(name).free();
    }

    boolean isWindowOpen() {
        return ReservationWindow.isOpen(now);
    }

    void advance(long nanos) {
        now = now.plusNanos(nanos);
    }

    /** Another instance is granted a permit, or gives it back. */
    String others(String name, int choice) {
        Row row = rows.get(name);
        if (choice == 0 && row.free() > 0) {
            row.others++;
            row.held++;
            row.fence++;
            return "another instance is granted a permit of " + name;
        } else if (choice == 1 && row.others > 0) {
            row.others--;
            row.held--;
            return "another instance releases a permit of " + name;
        }
        return "-";
    }

    /** Another instance locks a row, or commits. */
    String toggleLock(String name) {
        Row row = rows.get(name);
        row.locked = !row.locked;
        return "another instance " + (row.locked ? "locks " : "unlocks ") + name;
    }

    void endOthers() {
        rows.values().forEach(row -> {
            row.locked = false;
            row.held -= row.others;
            row.others = 0;
        });
    }

    boolean isBlocked(Set<String> awaited) {
        return awaited.stream().anyMatch(name -> rows.get(name).locked);
    }

    Map<String, RemainingAvailability> poll(Set<String> names) {
        Map<String, RemainingAvailability> polled = new TreeMap<>();
        names.forEach(name -> {
            Row row = rows.get(name);
            polled.put(name, Values.polled(row.capacity, row.held, row.free(), row.fence, now));
        });
        return polled;
    }

    /** What {@code BatchTransaction} does. */
    BatchResult decide(List<AcquireState> acquires, long answeredAt) {
        BatchOutcomes outcomes = new BatchOutcomes(acquires);
        outcomes.settleAll(this::repeated);
        Map<String, SemaphoreAvailability> locked = new TreeMap<>();
        outcomes.openNames().stream().filter(name -> !rows.get(name).locked).forEach(name -> {
            Row row = rows.get(name);
            locked.put(
                    name,
                    new SemaphoreAvailability(
                            new LockedSemaphore(row.id, name, row.capacity, row.fence, null),
                            new HeldSum(row.id, row.held, row.exclusive > 0, 0, now),
                            WaitersElsewhere.NONE));
        });
        outcomes.settleAll(acquire -> acquire.command().permits().keySet().stream()
                .filter(name -> !locked.containsKey(name))
                .findFirst()
                .map(GrantOutcome.Postponed::new)
                .orElse(null));
        outcomes.settleAll(acquire -> acquire.claim() ? null : new GrantOutcome.Withdrawn());
        Allocation allocation = Allocation.of(outcomes.open(), locked);
        BatchResult result = new BatchResult(List.of(), allocation.remaining(), List.of(), Map.of(), answeredAt);
        told = allocation.waiters(answeredAt);
        newlyGranted = allocation.approvals().stream()
                .map(approval -> approval.acquire().command())
                .toList();
        allocation.approvals().forEach(approval -> outcomes.settle(approval.acquire(), grant(approval)));
        result.availability().forEach((name, left) -> rows.get(name).fence = left.fence());
        allocation.rejections().forEach(outcomes::settle);
        allocation
                .refusals()
                .forEach((acquire, shortages) -> outcomes.settle(acquire, new GrantOutcome.Refused(shortages)));
        return new BatchResult(outcomes.outcomes(), result.availability(), List.of(), Map.of(), answeredAt);
    }

    private @Nullable GrantOutcome repeated(AcquireState acquire) {
        StoredGrant known = grants.get(acquire.command().externalId());
        if (known == null || acquire.isOwnRequest(known.requestId())) {
            return known == null ? null : new GrantOutcome.Granted(known, false);
        }
        return new GrantOutcome.Rejected(
                new RequestInProgressException(acquire.command().externalId(), known.owner()));
    }

    private GrantOutcome grant(Allocation.Approval approval) {
        AcquireCommand command = approval.acquire().command();
        List<StoredPermit> stored = new ArrayList<>();
        approval.shares().forEach(share -> {
            Row row = rows.get(share.name());
            row.held += share.count();
            row.exclusive += command.exclusive() ? 1 : 0;
            stored.add(new StoredPermit(
                    ++ids, share.availability().semaphoreId(), share.name(), share.count(), share.token()));
        });
        approval.acquire().addRequestId(++ids);
        StoredGrant grant = new StoredGrant(
                ids, command.externalId(), command.owner(), null, stored, null, Instant.EPOCH, null, Instant.EPOCH);
        grants.put(command.externalId(), grant);
        return new GrantOutcome.Granted(grant, false);
    }

    /** Gives back what is held by this external id, or nothing. Returns what was given back. */
    Map<String, Integer> release(AcquireCommand command) {
        StoredGrant grant = grants.remove(command.externalId());
        if (grant == null) {
            return Map.of();
        }
        grant.counts().forEach((name, count) -> {
            Row row = rows.get(name);
            row.held -= count;
            row.exclusive -= command.exclusive() ? 1 : 0;
        });
        return grant.counts();
    }

    /** What is held by this external id. */
    Map<String, Integer> counts(AcquireCommand command) {
        StoredGrant grant = grants.get(command.externalId());
        return grant == null ? Map.of() : grant.counts();
    }

    /** What {@code UndoTransaction} does: gives back what an attempt of this acquire was granted. */
    void undo(AcquireState acquire) {
        StoredGrant grant = grants.get(acquire.command().externalId());
        if (grant != null && acquire.isOwnRequest(grant.requestId())) {
            release(acquire.command());
        }
    }

    /** What the last batch was granted by this, and not before. */
    /** Which refused callers the last transaction has told other instances of, by semaphore. */
    Map<String, List<Waiter>> told() {
        return told;
    }

    List<AcquireCommand> newlyGranted() {
        return newlyGranted;
    }

    /** What nobody has released. */
    Set<String> held() {
        return grants.keySet();
    }
}
