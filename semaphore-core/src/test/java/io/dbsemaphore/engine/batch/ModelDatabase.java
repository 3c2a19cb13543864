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
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.ReservationWindow;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
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
        private boolean shared;
        private final ModelShares model;
        private final ShareRows tags = new ShareRows();
        private final List<RecordedHead> elsewhere = new ArrayList<>();

        private Row(long id, int capacity) {
            this.id = id;
            this.capacity = capacity;
            model = new ModelShares(capacity);
        }

        private WaitersElsewhere elsewhere() {
            return elsewhere.isEmpty() ? WaitersElsewhere.NONE : new WaitersElsewhere(1, List.copyOf(elsewhere));
        }

        private long free() {
            return exclusive > 0 ? 0 : capacity - held;
        }
    }

    /** What the table {@code semaphore_share} has of one semaphore. Rows that are not ahead are deleted. */
    private static final class ShareRows {

        private long time;
        private final Map<String, ShareTags.Finish> tenants = new HashMap<>();
        private final Map<Share, Long> keys = new HashMap<>();

        private ShareTags read(Set<Share> shares) {
            ShareTags tags = new ShareTags();
            boolean unused = tags.setTime(time);
            tenants.forEach(tags::setTenant);
            keys.forEach(tags::setKey);
            shares.forEach(tags::know);
            return tags;
        }

        private void write(ShareTags after) {
            time = after.time();
            after.changed().forEach(share -> {
                tenants.put(share.tenant(), after.tenant(share.tenant()));
                if (!share.key().isEmpty()) {
                    keys.put(share, after.key(share));
                }
            });
            keys.entrySet()
                    .removeIf(each -> each.getValue()
                            <= tenants.getOrDefault(each.getKey().tenant(), ShareTags.Finish.NONE)
                                    .keysTime());
            tenants.entrySet()
                    .removeIf(each -> each.getValue().finish() <= time
                            && each.getValue().ownFinish() <= each.getValue().keysTime()
                            && keys.keySet().stream()
                                    .noneMatch(key -> key.tenant().equals(each.getKey())));
        }

        private void grantElsewhere(Share share, int permits, int capacity) {
            ShareTags tags = read(Set.of(share));
            int ofTenant = ModelShares.weight(share.tenant());
            int ofKey = ModelShares.weight(share.keyPath());
            boolean isAlone = !tags.isAnyKeyAhead(share.tenant());
            tags.grant(share, permits, ofTenant, ofKey, capacity, isAlone);
            tags.reach(Long.MAX_VALUE, Map.of());
            write(tags);
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

    /** A caller of another instance begins to wait, leaves, or is granted permits, or such permits are released. */
    String othersWithShares(String name, Random choice) {
        Row row = rows.get(name);
        long instance = 2 + choice.nextInt(2);
        Share share = Share.of(ModelShares.SHARES.get(1 + choice.nextInt(ModelShares.SHARES.size() - 1)));
        List<Waiter> first = new ArrayList<>(row.elsewhere.stream()
                .filter(each -> each.instance() == instance)
                .findFirst()
                .map(RecordedHead::first)
                .orElse(List.of()));
        int what = choice.nextInt(6);
        String event;
        if (what < 3 && first.size() < 4) {
            long place = Place.micros(now) - (choice.nextInt(4) == 0 ? 2_000_000 : choice.nextInt(3));
            Ask ask = Ask.of(choice.nextInt(4) == 0 ? row.capacity : 1);
            first.add(new Waiter(Places.at(place), ask, false, 0, share));
            event = "a caller of " + share + " waits in instance " + instance + " for " + ask + " of " + name;
        } else if (what == 3 && !first.isEmpty()) {
            event = "leaves instance " + instance + ": " + first.remove(choice.nextInt(first.size()));
        } else if (what == 4 && !first.isEmpty() && first.get(0).ask().permits(row.capacity) <= row.free()) {
            Waiter granted = first.remove(0);
            int permits = granted.ask().permits(row.capacity);
            row.others += permits;
            row.held += permits;
            row.fence++;
            row.tags.grantElsewhere(granted.share(), permits, row.capacity);
            row.model.begin();
            row.model.grant(granted.share(), permits, List.of());
            row.model.end(List.of());
            row.model.begin();
            event = "instance " + instance + " is granted permits of " + name + " for " + granted;
        } else if (what == 5 && row.others > 0) {
            row.others--;
            row.held--;
            event = "another instance releases a permit of " + name;
        } else {
            return "-";
        }
        row.elsewhere.removeIf(each -> each.instance() == instance);
        if (!first.isEmpty()) {
            first.sort(Comparator.comparing(Waiter::place));
            Map<String, Integer> weights = new TreeMap<>(Map.of("", 1));
            first.forEach(each -> Stream.of(each.share().tenant(), each.share().keyPath())
                    .forEach(path -> weights.put(path, ModelShares.weight(path))));
            row.elsewhere.add(new RecordedHead(row.id, instance, first, first.size(), now.plusSeconds(1), weights));
        }
        return event;
    }

    /** Whether the last batch was decided by shares at this semaphore. */
    boolean isShared(String name) {
        return rows.get(name).shared;
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
            row.elsewhere.clear();
        });
    }

    boolean isBlocked(Set<String> awaited) {
        return awaited.stream().anyMatch(name -> rows.get(name).locked);
    }

    Map<String, RemainingAvailability> poll(Set<String> names, OwnLines local) {
        Map<String, RemainingAvailability> polled = new TreeMap<>();
        names.forEach(name -> {
            Row row = rows.get(name);
            LineHead here = local.of(name);
            ShareTags tags = null;
            if (here.isShared() || row.elsewhere().hasShares()) {
                Set<Share> waiting = sharesOf(here, row.elsewhere());
                tags = row.tags.read(waiting);
                tags.retain(waiting);
            }
            polled.put(
                    name,
                    new RemainingAvailability(
                            row.capacity,
                            row.held,
                            row.free(),
                            row.fence,
                            row.fence,
                            now,
                            row.elsewhere(),
                            true,
                            tags));
        });
        return polled;
    }

    private static Set<Share> sharesOf(LineHead here, WaitersElsewhere elsewhere) {
        Set<Share> shares = new HashSet<>();
        here.first().forEach(each -> shares.add(each.share()));
        elsewhere.queues().forEach(queue -> queue.first().forEach(each -> shares.add(each.share())));
        return shares;
    }

    /** What {@code BatchTransaction} does. */
    BatchResult decide(List<AcquireState> acquires, OwnLines local, long answeredAt) {
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
                            row.elsewhere()));
        });
        outcomes.settleAll(acquire -> acquire.command().permits().keySet().stream()
                .filter(name -> !locked.containsKey(name))
                .findFirst()
                .map(GrantOutcome.Postponed::new)
                .orElse(null));
        outcomes.settleAll(acquire -> acquire.claim() ? null : new GrantOutcome.Withdrawn());
        Map<String, ModelDecision> decisions = share(locked, outcomes.open(), local, answeredAt);
        Allocation allocation = Allocation.of(outcomes.open(), locked);
        decisions.forEach((name, decision) -> {
            ShareTags after = Objects.requireNonNull(locked.get(name).turns()).tagsAfter();
            decision.check(allocation, after);
            if (locked.get(name).fence() > rows.get(name).fence) {
                rows.get(name).tags.write(after);
            }
            after.retain(Objects.requireNonNull(locked.get(name).turns()).shares());
            locked.get(name).setTags(after);
        });
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

    /** Has the acquires decided by their shares, where one of the callers has one. */
    private Map<String, ModelDecision> share(
            Map<String, SemaphoreAvailability> locked, List<AcquireState> open, OwnLines local, long answeredAt) {
        Map<String, ModelDecision> decisions = new TreeMap<>();
        locked.forEach((name, availability) -> {
            Row row = rows.get(name);
            LineHead own = local.of(name);
            List<AcquireState> asking = open.stream()
                    .filter(each -> each.charges().containsKey(name))
                    .toList();
            row.shared = (own.isShared()
                            || row.elsewhere().hasShares()
                            || asking.stream().anyMatch(each -> !each.share().isNone()))
                    && availability.isContended(asking, own);
            if (row.shared) {
                Set<Share> read = sharesOf(own, row.elsewhere());
                asking.forEach(each -> read.add(each.share()));
                availability.share(asking, row.tags.read(read), own, local.weights(), local.instance(), answeredAt);
                decisions.put(
                        name,
                        new ModelDecision(name, row.capacity, row.free(), row.model, isWindowOpen())
                                .withMembers(asking, new Places(Place.micros(now), answeredAt))
                                .with(own.first(), 1)
                                .with(row.elsewhere()));
            }
        });
        return decisions;
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
