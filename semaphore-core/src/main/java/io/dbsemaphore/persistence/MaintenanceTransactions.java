package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.ReclaimReason;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.TimeOrderedIds;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.springframework.data.domain.Limit;

/** The batches of the maintenance, each a transaction of its own. Candidates are read without a lock. */
public final class MaintenanceTransactions {

    /** MySQL estimates more than 200 of an IN-list by statistics instead of the index, and then scans the table. */
    private static final int SEMAPHORES_AT_ONCE = 100;

    /** Each is the lock of a semaphore that an acquire may want. */
    private static final int LOCKS_AT_ONCE = 20;

    private final ShortTransaction transaction;
    private final PermitRequestRepository requests;
    private final PermitRepository permits;
    private final SemaphoreRepository semaphores;
    private final InstanceRepository instances;
    private final CapacityAuditRepository audits;
    private final SuspectInstances suspectInstances;
    private final RequestReclaim release;

    MaintenanceTransactions(
            ShortTransaction transaction,
            PermitRequestRepository requests,
            PermitRepository permits,
            SemaphoreRepository semaphores,
            InstanceRepository instances,
            CapacityAuditRepository audits,
            SuspectInstances suspectInstances,
            RequestReclaim release) {
        this.transaction = transaction;
        this.requests = requests;
        this.permits = permits;
        this.semaphores = semaphores;
        this.instances = instances;
        this.audits = audits;
        this.suspectInstances = suspectInstances;
        this.release = release;
    }

    /** Who holds something, and the database's clock when that was asked. */
    public record Owners(List<String> names, Instant asOf) {}

    /** The candidates above a key that have expired, in the order of keys. */
    public List<Long> findExpired(long after, int limit) {
        return transaction.execute(() -> requests.findExpired(after, Limit.of(limit)));
    }

    /** The candidates above a key whose JVM is gone. */
    public List<Long> findOfDeadInstances(long after, int limit) {
        return transaction.execute(() -> {
            Set<Long> dead = suspectInstances.dead(instances.findSuspectHolders());
            return dead.isEmpty() ? List.of() : requests.findOfInstances(dead, after, Limit.of(limit));
        });
    }

    /** The candidates above a key without a time to live that are stale. */
    public List<Long> findStale(Duration staleAfter, long after, int limit) {
        return transaction.execute(() -> requests.findStale(-staleAfter.toMillis(), after, Limit.of(limit)));
    }

    /** Who holds something. */
    public Owners findOwners() {
        return transaction.execute(() -> new Owners(requests.findOwners(), StoredGrant.instant(requests.now())));
    }

    /** The candidates above a key of a dead owner. */
    public List<Long> findOfOwner(ReclaimReason.OwnerDead dead, long after, int limit) {
        return transaction.execute(
                () -> requests.findOfOwner(dead.owner(), StoredGrant.utc(dead.since()), after, Limit.of(limit)));
    }

    /** Releases those candidates that still are what the reason says, and returns them. */
    public List<ReclaimedRequest> release(List<Long> candidates, ReclaimReason reason) {
        return transaction.execute(() -> release.release(candidates, reason));
    }

    /** Some semaphores above a key, in the order of keys. */
    public List<Long> findSemaphores(long after) {
        return transaction.execute(() -> semaphores.findIdsAfter(after, Limit.of(SEMAPHORES_AT_ONCE)));
    }

    /**
     * Frees one batch of those permits of the semaphores whose requests are released: there are none, unless somebody
     * wrote to the tables. Found by way of what is held, which is little, and not among all that was ever released.
     */
    public int repairHalfReleased(List<Long> semaphoreIds, int limit) {
        return transaction.execute(() -> {
            List<Long> half = requests.findHalfReleased(semaphoreIds, Limit.of(limit));
            return half.isEmpty() ? 0 : permits.releaseByRequests(half);
        });
    }

    /**
     * What one batch of the clean-up did.
     *
     * @param requests how many requests it deleted
     * @param repairedPermits how many of their permits were held still; those of a semaphore that is deleted, too, which
     *     {@link #repairHalfReleased} does not find
     */
    public record CleanUp(int requests, int repairedPermits) {}

    /** Deletes one batch of requests that were released longer ago than the retention, and their permits first. */
    public CleanUp deleteReleased(Duration retention, int limit) {
        return transaction.execute(() -> {
            long upTo = TimeOrderedIds.upperBound(requests.now(), retention);
            List<Long> old = requests.findReleasedBefore(upTo, -retention.toMillis(), Limit.of(limit));
            if (old.isEmpty()) {
                return new CleanUp(0, 0);
            }
            int repaired = permits.releaseByRequests(old);
            permits.deleteReleased(old);
            return new CleanUp(requests.deleteReleased(old), repaired);
        });
    }

    /** Deletes one batch of the audit. */
    public int deleteHistory(Duration retention, int limit) {
        return transaction.execute(() -> {
            List<Long> old = audits.findBefore(-retention.toMillis(), Limit.of(limit));
            return old.isEmpty() ? 0 : audits.delete(old);
        });
    }

    /** Forgets instances that have been silent for long and hold nothing. */
    public int deleteExpiredInstances(Duration silentFor) {
        return transaction.execute(() -> {
            List<Long> longExpired = instances.findLongExpired(-silentFor.toMillis());
            return longExpired.isEmpty() ? 0 : instances.deleteLongExpired(longExpired, -silentFor.toMillis());
        });
    }

    /** Some candidates above a key that a pattern made, of which nothing is held, and that nobody acquired for long. */
    public List<Long> findIdleOfPatterns(Duration idleFor, long after) {
        return transaction.execute(
                () -> semaphores.findIdleOfPatterns(-idleFor.toMillis(), after, Limit.of(LOCKS_AT_ONCE)));
    }

    /** Deletes those of the candidates that are idle still. */
    public int deleteIdleOfPatterns(List<Long> ascending, Duration idleFor) {
        return transaction.execute(() -> {
            int deleted = 0;
            for (Long id : ascending) {
                if (semaphores.lockById(id).isPresent() && semaphores.sumHeld(id) == 0) {
                    deleted += semaphores.deleteIdle(id, -idleFor.toMillis());
                }
            }
            return deleted;
        });
    }
}
