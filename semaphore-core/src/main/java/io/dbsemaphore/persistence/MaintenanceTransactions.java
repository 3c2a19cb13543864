package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.data.domain.Limit;

/** The batches of the maintenance tasks, each in a transaction of its own. Candidates are read without a lock. */
public record MaintenanceTransactions(ShortTransaction transaction, Tables tables, RequestReclaim reclaim) {

    /** For an IN-list of more than 200 values, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int SEMAPHORES_AT_ONCE = 100;

    /** Few, because each locks a semaphore's row, for which an acquire may wait. */
    private static final int LOCKS_AT_ONCE = 20;

    private MaintenanceRepository rows() {
        return tables.maintenance().get();
    }

    /** The owners that hold permits, and the database's clock when they were read. */
    public record Owners(List<String> names, Instant asOf) {}

    /** Finds the next requests by id that may be reclaimed. */
    public List<Long> find(ReclaimReason reason, long after, int limit) {
        return transaction.execute(() -> reclaim.find(reason, after, limit));
    }

    /** Returns the reason to reclaim permits of dead instances; empty if none is dead. */
    public Optional<ReclaimReason> findDeadInstances() {
        Map<Long, DeadInstance> dead = transaction.execute(tables.instances()::findDead);
        return dead.isEmpty() ? Optional.empty() : Optional.of(ReclaimReason.instanceGone(dead));
    }

    public Owners findOwners() {
        return transaction.executeWithRepositories(() -> new Owners(
                rows().findOwners(), StoredGrant.instant(tables.requests().now())));
    }

    /** Releases the candidates to which the reason still applies, and returns them. */
    public List<ReclaimedRequest> release(List<Long> candidates, ReclaimReason reason) {
        return transaction.execute(() -> reclaim.release(candidates, reason));
    }

    /** Finds the next page of semaphores, in the order of ids. */
    public List<Long> findSemaphores(long after) {
        return transaction.executeWithRepositories(() -> rows().findSemaphores(after, Limit.of(SEMAPHORES_AT_ONCE)));
    }

    /**
     * Releases one batch of held permits whose requests are released. There are none unless another program modified the tables. The search
     * starts from the held permits, which are few, not from the released requests.
     */
    public int repairHalfReleased(List<Long> semaphoreIds, int limit) {
        Supplier<Integer> repaired = transaction.executeWithRepositories(() -> {
            List<Long> half = rows().findHalfReleased(semaphoreIds, Limit.of(limit));
            return half.isEmpty() ? () -> 0 : tables.permits().queueReleaseOf(half);
        });
        return repaired.get();
    }

    /** Deletes one batch of requests that were released longer ago than the retention, permits first. */
    public int deleteReleased(Duration retention, int limit) {
        return transaction.executeWithRepositories(() -> {
            long upTo = TimeOrderedIds.upperBound(tables.requests().now(), retention);
            List<Long> old = rows().findReleasedBefore(upTo, -retention.toMillis(), Limit.of(limit));
            if (old.isEmpty()) {
                return 0;
            }
            rows().deletePermits(old);
            return rows().deleteReleased(old);
        });
    }

    /** Deletes one batch of audited reclaims, which are kept as long as released requests. */
    public int deleteReclaims(Duration retention, int limit) {
        return deleteHistory(CapacityHistory.RECLAIMS, retention, limit);
    }

    /** Deletes one batch of the operators' audit entries. */
    public int deleteHistory(Duration retention, int limit) {
        return deleteHistory(CapacityHistory.OPERATORS, retention, limit);
    }

    private int deleteHistory(long kind, Duration retention, int limit) {
        return transaction.executeWithRepositories(() -> {
            // no reclaim with a higher id is as old, so that a long scan ends there
            long last = kind == CapacityHistory.RECLAIMS
                    ? kind | TimeOrderedIds.upperBound(tables.requests().now(), retention)
                    : Long.MAX_VALUE;
            List<Long> old = rows().findChangesBefore(kind, last, -retention.toMillis(), Limit.of(limit));
            return old.isEmpty() ? 0 : rows().deleteChanges(old);
        });
    }

    /** Deletes rows of waiting callers that their instances have not confirmed for this time. */
    public int deleteExpiredWaiters(Duration overdueFor, int limit) {
        long minusMillis = -overdueFor.toMillis();
        return transaction.executeWithRepositories(
                () -> rows().findExpiredWaiters(minusMillis, Limit.of(limit)).stream()
                        .map(SemaphoreWaiter::key)
                        .mapToInt(key -> rows().deleteExpiredWaiter(key.semaphoreId(), key.instance(), minusMillis))
                        .sum());
    }

    /** Deletes one batch of shares that no transaction has written for a day. */
    public int deleteOldShares(int limit) {
        return transaction.execute(() -> tables.shares().deleteOld(limit));
    }

    /** Deletes the instances that hold nothing and whose lease expired longer ago than this. */
    public int deleteExpiredInstances(Duration overdueFor) {
        long minusMillis = -overdueFor.toMillis();
        return transaction.executeWithRepositories(() -> {
            List<Long> expired = rows().findExpiredInstances(minusMillis);
            return expired.isEmpty() ? 0 : rows().deleteExpiredInstances(expired, minusMillis);
        });
    }

    /** Finds the next page, by id, of pattern-created semaphores that have no held permits and have been idle for this time. */
    public List<Long> findIdleOfPatterns(Duration idleFor, long after) {
        return transaction.executeWithRepositories(
                () -> rows().findIdleOfPatterns(-idleFor.toMillis(), after, Limit.of(LOCKS_AT_ONCE)));
    }

    /** Deletes the candidates that are still idle. */
    public int deleteIdleOfPatterns(List<Long> ascending, Duration idleFor) {
        return transaction.executeWithRepositories(() -> {
            List<Long> deleted = new ArrayList<>();
            for (Long id : ascending) {
                if (tables.semaphores().rows().lockById(id).isPresent()
                        && tables.semaphores().rows().sumHeld(id) == 0
                        && rows().deleteIdle(id, -idleFor.toMillis()) > 0) {
                    deleted.add(id);
                }
            }
            tables.shares().deleteOf(deleted);
            return deleted.size();
        });
    }
}
