package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The transactions by which a holder keeps its permits: the renewal of one grant, and the transactions of the keep-alive for all grants of
 * this JVM.
 *
 * <p>One grant is renewed by a conditional update and a read of the new expiry. The keep-alive renews batches of grants, in one
 * transaction each. It never waits for a row lock: a locked request is skipped, and does not delay the others.
 */
public record HoldTransactions(ShortTransaction transaction, Tables tables) {

    /** The maximum number of requests per statement: well below the limits of the databases, and quick to parse. */
    private static final int MAX_BATCH = 500;

    /** The number of audit entries that are read: operators do not release more permits by force between two heartbeats. */
    private static final int AUDITED = 1_000;

    public Optional<StoredGrant> find(String externalId) {
        return transaction.execute(() -> tables.findGrant(externalId));
    }

    /** Whether there is a request with this external id, held or released. */
    public boolean isKnown(String externalId) {
        return transaction.execute(
                () -> !tables.requests().findByExternalIds(List.of(externalId)).isEmpty());
    }

    /** Sets the expiry of a known grant to now + {@code ttl}; returns empty if it is no longer held. */
    public Optional<StoredGrant> renew(StoredGrant grant, Duration ttl) {
        return transaction.execute(() -> {
            Supplier<Integer> renewed = tables.requests().queueRenewal(grant.requestId(), ttl);
            List<PermitRequest> after = tables.requests().findByIds(List.of(grant.requestId()));
            return renewed.get() == 0
                    ? Optional.empty()
                    : after.stream().findFirst().map(found -> found.toGrant(grant.permits()));
        });
    }

    /**
     * Extends the lease of this JVM by the timeout; registers it if it is unknown.
     *
     * @param answered the nonce of the last heartbeat that was answered
     * @param nonce the higher nonce of this heartbeat, and of unanswered ones before it
     * @return false if another process has sent heartbeats for this instance
     */
    public boolean heartbeat(long instance, String owner, Duration timeout, long answered, long nonce) {
        try {
            transaction.run(() -> tables.instances().heartbeat(instance, owner, timeout, answered, nonce));
            return true;
        } catch (RuntimeException failure) {
            if (SqlErrors.is(failure, SqlErrorKind.DUPLICATE_KEY)) {
                return false;
            }
            throw failure;
        }
    }

    /** Unbinds requests that this JVM kept alive: they stay held until they expire. */
    public void unbind(long instance, Collection<Long> requestIds) {
        batches(requestIds)
                .forEach(batch -> transaction.run(() -> tables.requests().queueUnbinding(batch, instance)));
    }

    /** Removes the registration of this JVM. Its database user may lack the privilege for that. */
    public void deregister(long instance) {
        transaction.run(() -> tables.instances().delete(instance));
    }

    /**
     * The outcome of one batch. A request that is neither held nor lost was locked by another transaction.
     *
     * @param held the requests that were renewed, or confirmed to be held
     * @param lost the requests that were released or have expired
     */
    public record Outcome(Set<Long> held, Set<Long> lost) {}

    /**
     * Renews requests that are kept alive, unless they already end later.
     *
     * @param millis the time from now to the new end, by request
     * @param each receives the outcome of each batch after its commit
     * @throws RuntimeException if a batch failed; the state of its requests and of those in later batches is unknown
     */
    public void renew(Map<Long, Long> millis, Consumer<Outcome> each) {
        inTransactions(
                millis.keySet(),
                locked -> {
                    SortedMap<Long, Long> some = new TreeMap<>();
                    locked.forEach(id -> some.put(id, millis.getOrDefault(id, 0L)));
                    tables.requests().queueRenewal(some);
                },
                each);
    }

    /**
     * The state in the database of requests that have expired by this JVM's clock.
     *
     * @param alive the remaining time of requests that this or another process has renewed
     * @param releasedInTime the requests that another process released before they expired, neither by force nor to reclaim them
     */
    public record Ended(Map<Long, Duration> alive, Set<Long> releasedInTime) {}

    /** Reads the state of grants that have expired by this JVM's clock. */
    public Ended findEnded(Collection<StoredGrant> grants) {
        Map<Long, Duration> alive = new HashMap<>();
        Set<Long> releasedInTime = new HashSet<>();
        transaction.run(() -> Sql.chunks(List.copyOf(grants), MAX_BATCH).forEach(batch -> {
            List<PermitRequest> found = tables.requests()
                    .findByIds(batch.stream().map(StoredGrant::requestId).toList());
            found.stream()
                    .filter(PermitRequest::isAlive)
                    .forEach(request -> alive.put(request.id(), request.remaining()));
            List<PermitRequest> released =
                    found.stream().filter(PermitRequest::isReleasedInTime).toList();
            Set<String> names = batch.stream()
                    .flatMap(grant -> grant.counts().keySet().stream())
                    .collect(Collectors.toSet());
            released.forEach(request -> releasedInTime.add(request.id()));
            tables.history().takenAway(released, names).forEach(request -> releasedInTime.remove(request.id()));
        }));
        return new Ended(alive, releasedInTime);
    }

    /**
     * Finds out which requests are still held. A request that is being reclaimed at the moment is neither held nor lost.
     *
     * @param each receives the outcome of each batch as soon as it is committed
     */
    public void confirm(Collection<Long> requestIds, Consumer<Outcome> each) {
        inTransactions(requestIds, tables.requests()::queueTouch, each);
    }

    /** The external ids of requests that operators have recently released by force, through any instance. */
    public Set<String> findReleasedByForce() {
        return transaction.execute(() -> tables.history().latestForcedReleases(AUDITED));
    }

    /**
     * In each batch, locks the requests that no other transaction has locked, and finds out which are held.
     *
     * @param write queues the writes to the locked requests
     * @param each receives the outcome of each batch as soon as it is committed
     */
    private void inTransactions(Collection<Long> requestIds, Consumer<Set<Long>> write, Consumer<Outcome> each) {
        batches(requestIds)
                .forEach(batch -> each.accept(
                        transaction.execute(() -> queue(batch, write)).get()));
    }

    private Supplier<Outcome> queue(List<Long> batch, Consumer<Set<Long>> write) {
        Set<Long> locked = tables.requests().lockSkipLocked(batch);
        if (!locked.isEmpty()) {
            write.accept(locked);
        }
        Supplier<List<Long>> found = tables.requests().queueFindAlive(batch);
        return () -> {
            Set<Long> alive = new TreeSet<>(found.get());
            Set<Long> held = new TreeSet<>(locked);
            held.retainAll(alive);
            Set<Long> lost = new TreeSet<>(batch);
            lost.removeAll(alive);
            return new Outcome(held, lost);
        };
    }

    /** Splits requests into batches, in the ascending order of ids in which all transactions lock. */
    private static List<List<Long>> batches(Collection<Long> requestIds) {
        return Sql.chunks(requestIds.stream().sorted().distinct().toList(), MAX_BATCH);
    }
}
