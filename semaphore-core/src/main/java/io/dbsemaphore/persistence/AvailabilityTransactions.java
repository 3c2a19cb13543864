package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.SemaphoreAvailability;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.WaitersElsewhere;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The transactions besides batches: polls for waiting callers, the records that tell other instances who waits, and the confirmation of
 * reused permits.
 */
public record AvailabilityTransactions(ShortTransaction transaction, Tables tables, RequestReclaim reclaim) {

    /** No row has this id. */
    private static final List<Long> NONE = List.of(0L);

    /**
     * Selects the held requests, the semaphores whose capacity is exceeded, and the waiting callers and marks of other instances. The
     * conditions on {@code expires_at} and {@code instance} are written so that no index serves them: with many ids, MySQL would spend more
     * time on the choice of an index than on the rows.
     */
    private static final String CONFIRM = """
            select found.id, found.kind, all_rows() from (
            select r.id, 'HELD' as kind from permit_request r
            where r.id in (?) and r.state <> 'RELEASED' and coalesce(r.expires_at > utc_now(), true)
            union all select s.id, 'EXCEEDED' from semaphore s
            join permit p on p.semaphore_id = s.id and p.state = 'ACQUIRED' and p.token >= s.live_from
            where s.id in (?) group by s.id, s.capacity having sum(p.count) > s.capacity
            union all select w.semaphore_id, case when w.waiting > 0 then 'AWAITED' else 'REFUSED' end from semaphore_waiter w
            where w.semaphore_id in (?) and abs(w.instance) <> ? and w.expires_at > utc_now()) found""";

    /**
     * Reads the availability of each semaphore, by name, and confirms the waiting callers of this instance to the others.
     *
     * @param inFlight the semaphores with a batch in flight
     * @param local the waiting callers of this instance
     */
    public Map<String, RemainingAvailability> poll(Collection<String> names, Set<String> inFlight, OwnLines local) {
        return transaction.execute(() -> {
            SortedMap<Long, String> byId = tables.semaphores().byId(names);
            WaiterTable.Rows queues = tables.waiters().queues(local);
            queues.expect(byId, Set.of());
            ShareTable.Rows shares = tables.shares().rows(false);
            byId.forEach((id, name) -> {
                if (local.of(name).isShared()) {
                    shares.expect(id, ShareTable.sharesOf(local.of(name), WaitersElsewhere.NONE));
                }
            });
            Map<String, RemainingAvailability> available = new HashMap<>();
            Set<Long> toExtend = new HashSet<>();
            Supplier<List<LockedSemaphore>> found = tables.semaphores().find(byId.keySet());
            Map<Long, HeldSum> sums = tables.permits().sumHeld(byId.keySet());
            queues.readExpected();
            found.get().forEach(semaphore -> {
                HeldSum sum = sums.get(semaphore.id());
                if (sum == null) { // the semaphore has just been deleted
                    return;
                }
                if (queues.isExtensionDue(semaphore, sum.now())) {
                    toExtend.add(semaphore.id());
                }
                WaitersElsewhere elsewhere = queues.elsewhere(semaphore.id(), sum.now());
                SemaphoreAvailability read = new SemaphoreAvailability(semaphore, sum, elsewhere);
                LineHead here = local.of(semaphore.name());
                if ((here.isShared() || elsewhere.hasShares()) && elsewhere.knowShares()) {
                    Set<Share> waiting = ShareTable.sharesOf(here, elsewhere);
                    ShareTags tags = shares.read(semaphore.id(), semaphore.fence(), waiting);
                    tags.retain(waiting);
                    read.setTags(tags);
                }
                available.put(semaphore.name(), read.remaining(queues.isRegistered(semaphore)));
            });
            sums.values().stream()
                    .map(HeldSum::now)
                    .max(Comparator.naturalOrder())
                    .ifPresent(now -> {
                        queues.confirm(byId, now, inFlight);
                        extend(toExtend, now);
                    });
            names.forEach(name -> available.putIfAbsent(name, RemainingAvailability.DELETED));
            return available;
        });
    }

    /** Records that callers wait. Leaves out rows that another transaction has locked: that transaction or the next poll records it. */
    private void extend(Set<Long> ids, LocalDateTime now) {
        if (!ids.isEmpty()) {
            Supplier<List<LockedSemaphore>> result = tables.semaphores().lockSkipLocked(ids);
            tables.sql().flush();
            List<Long> locked = result.get().stream().map(LockedSemaphore::id).toList();
            if (!locked.isEmpty()) {
                tables.waiters().extend(locked, now);
            }
        }
    }

    /**
     * The answer of the database about reused permits.
     *
     * @param held the requests that are held
     * @param awaited the semaphores that callers of other instances wait for
     * @param refused the semaphores of which callers of other instances were refused permits
     * @param exceeded the semaphores whose lowered capacity is exceeded
     */
    public record Confirmation(Set<Long> held, Set<String> awaited, Set<String> refused, Set<String> exceeded) {}

    /**
     * Finds out which requests are held, and whether others want permits of these semaphores, by one statement without locks.
     *
     * @param requestIds the ids, at least one
     */
    public Confirmation confirm(Collection<Long> requestIds, Collection<String> names, long instance) {
        return transaction.execute(() -> {
            Map<Long, String> byId = tables.semaphores().byId(names);
            Collection<Long> ids = byId.isEmpty() ? NONE : byId.keySet();
            Map<String, Set<Long>> found = tables
                    .sql()
                    .read(
                            CONFIRM,
                            (row, number) -> Map.entry(row.getString(2), row.getLong(1)),
                            requestIds,
                            ids,
                            ids,
                            instance)
                    .stream()
                    .collect(Collectors.groupingBy(
                            Map.Entry::getKey, Collectors.mapping(Map.Entry::getValue, Collectors.toSet())));
            Function<String, Set<String>> namesOf = kind ->
                    found.getOrDefault(kind, Set.of()).stream().map(byId::get).collect(Collectors.toSet());
            return new Confirmation(
                    found.getOrDefault("HELD", Set.of()),
                    namesOf.apply("AWAITED"),
                    namesOf.apply("REFUSED"),
                    namesOf.apply("EXCEEDED"));
        });
    }

    /**
     * Tells the other instances that callers of this one were refused.
     *
     * @param marks how long each mark is valid, by semaphore
     */
    public void mark(Map<String, Duration> marks, long instance, String owner) {
        transaction.run(() -> marks.forEach((name, validFor) ->
                idsOf(Set.of(name)).forEach(id -> tables.waiters().mark(id, instance, owner, validFor))));
    }

    /** Tells the other instances that no caller of this one waits for these semaphores now. */
    public void forget(Collection<String> names, long instance) {
        transaction.run(() -> tables.waiters().delete(instance, idsOf(names)));
    }

    /** Tells the other instances that no caller of this one waits now. */
    public void forgetAll(long instance) {
        transaction.run(() -> tables.waiters().deleteAll(instance));
    }

    /** Whether permits of these semaphores may be reclaimed, because they have expired or their instance is dead. */
    public boolean isReclaimable(Collection<String> names) {
        return transaction.execute(() -> reclaim.isPossible(idsOf(names)));
    }

    private Set<Long> idsOf(Collection<String> names) {
        return tables.semaphores().byId(names).keySet();
    }
}
