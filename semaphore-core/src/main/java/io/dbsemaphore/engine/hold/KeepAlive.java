package io.dbsemaphore.engine.hold;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.persistence.HoldTransactions;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps grants alive while their work runs, sends the heartbeats of this instance, and reports grants that are lost or have expired. One
 * thread does all of this.
 *
 * <p>The thread takes a turn every 100 ms, as long as there is a grant, or the connection of the thread is reserved. A turn renews the
 * grants that are due, reports those that have expired, and warns of those that may have leaked. A renewal is due at a third of the time to
 * live, or a little earlier, so that many grants are renewed together. One transaction renews up to 500 grants: it locks their requests,
 * except those that another transaction has locked, then updates them. A turn also sends a heartbeat if one is due, and then looks for
 * grants that an operator has released by force. While the database is unavailable, the thread keeps trying; a grant whose deadline passes
 * meanwhile is lost.
 *
 * <p>The pause between turns delays no renewal and no heartbeat, because both are due earlier by this pause. A grant with the shortest time
 * to live, 1 s, is renewed within 333 ms. At the shortest instance timeout, 3 s, heartbeats follow one another within 500 ms, and the lease
 * lasts for 2 s. Expiries and possible leaks are reported up to 100 ms late.
 *
 * <p>Nothing else can block this thread. Its connection is reserved, and kept while a grant is kept alive, even if the application uses up
 * the pool. It does not wait for row locks of other transactions. Another thread notifies listeners of each loss once, in order.
 *
 * <p>{@code KeepAliveIntegrationTests} and {@code UndisturbedKeepAliveIntegrationTests} test it.
 */
public final class KeepAlive implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KeepAlive.class);

    /** How long the connection is kept after the last grant, so that not every short piece of work takes a new one. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    private final Collaborators with;
    private final ScheduledThreadPoolExecutor thread;

    private final ConcurrentMap<Long, ScheduledRenewal> byRequest = new ConcurrentHashMap<>();
    private final AtomicBoolean turning = new AtomicBoolean();
    private Deadline lingering = Deadline.in(Duration.ZERO);
    private boolean reserved;

    /** Allows one confirmation at a time, so that a crowd of callers takes only one thread of the database. */
    private final Semaphore confirming = new Semaphore(1);

    private CompletableFuture<?> reports = CompletableFuture.completedFuture(null);

    /**
     * The collaborators of a keep-alive.
     *
     * @param lost tells listeners of a lost grant
     * @param reporting calls listeners, which may block
     */
    public record Collaborators(
            Sessions connections,
            HoldTransactions renewals,
            InstanceLease lease,
            GrantRegistry held,
            Consumer<GrantHandle> lost,
            Executor reporting,
            Duration longestInterval,
            Duration leakThreshold) {}

    /** Creates a keep-alive, which must be {@linkplain #start started}. */
    public KeepAlive(Collaborators with, DaemonThreads threads) {
        this.with = with;
        this.thread = threads.scheduler("semaphore-keep-alive", with.connections()::onReservedConnection);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        thread.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy()); // when closed
    }

    /** Starts the thread. */
    public void start() {
        thread.prestartCoreThread();
    }

    /**
     * Ensures that the lease is valid before the acquire of a grant that is to be kept alive.
     *
     * @return the lease epoch, see {@link InstanceLease#ensure}
     */
    public long prepare() {
        return with.lease().ensure(this::confirmGrants);
    }

    /**
     * Keeps the grant alive until it ends, or the maximum hold has passed.
     *
     * @param handle the handle of its user, for listeners; null if nobody uses it
     * @param maxHold until when the grant is renewed
     * @param epoch the epoch of the lease before the grant was acquired
     */
    public void keep(HeldGrant state, Supplier<? extends @Nullable GrantHandle> handle, Deadline maxHold, long epoch) {
        state.bindTo(with.lease(), epoch);
        ScheduledRenewal kept = scheduled(state, handle, maxHold);
        byRequest.compute(kept.requestId(), (requestId, known) -> kept.replacing(known));
        beginTurns();
    }

    private ScheduledRenewal scheduled(
            HeldGrant state, Supplier<? extends @Nullable GrantHandle> handle, @Nullable Deadline maxHold) {
        return new ScheduledRenewal(state, handle, maxHold, with.longestInterval(), with.leakThreshold());
    }

    /**
     * Undoes {@link #keep} or {@link #watch} for a caller that left before it got its handle, while another caller has the grant.
     *
     * @return whether the grant is kept alive; if not, it no longer depends on this instance
     */
    public boolean leave(GrantHandle left) {
        byRequest.computeIfPresent(left.stored().requestId(), (requestId, kept) -> kept.without(left));
        boolean keeps = keeps(left.stored().requestId());
        if (!keeps) {
            left.state().unbind();
        }
        return keeps;
    }

    /** Whether this instance keeps the grant of a request alive. */
    public boolean keeps(long requestId) {
        ScheduledRenewal known = byRequest.get(requestId);
        return known != null && known.isKeptAlive();
    }

    /** Watches a grant that is not kept alive, to report its expiry. Without effect if an earlier acquire keeps it alive. */
    public void watch(GrantHandle handle) {
        HeldGrant state = handle.state();
        if (state.grant().ttl() != null) {
            ScheduledRenewal watched = scheduled(state, () -> handle, null);
            byRequest.merge(watched.requestId(), watched, (known, added) -> known.orElse(added));
            beginTurns();
        }
    }

    /**
     * Stops keeping the grant alive or watching it. To be called before its release.
     *
     * @return the handle of its user; null if nobody uses it, or it was not scheduled
     */
    public @Nullable GrantHandle stop(long requestId) {
        ScheduledRenewal stopped = byRequest.remove(requestId);
        if (stopped != null && stopped.isLeaked()) {
            log.info(
                    "Grant {}, reported as a possible leak, was released after {}",
                    stopped.state.grant().externalId(),
                    stopped.state.heldFor());
        }
        return stopped == null ? null : stopped.handle();
    }

    /**
     * Confirms a grant that was just registered, because the lease may have expired during its acquire. If this fails or takes too long,
     * the next heartbeat confirms the grant; until then it does not count as held.
     *
     * @param until how long to wait: a heartbeat may be waiting for the database
     */
    public void confirm(HeldGrant state, Deadline until) {
        if (!state.isLeaseValid() && Uninterruptibles.acquire(confirming, until.remainingNanos())) {
            CountDownLatch ended = new CountDownLatch(1);
            with.connections().threads().execute(() -> {
                attempt("confirmation", () -> confirmNow(state));
                confirming.release();
                ended.countDown();
            });
            Uninterruptibles.await(ended, until.remainingNanos());
        }
    }

    private void confirmNow(HeldGrant state) {
        if (!state.isLeaseValid()) {
            prepare();
        }
        if (!state.isLeaseValid()) { // another heartbeat renewed the lease without checking this grant
            with.lease().checkNow(this::confirmGrants);
        }
    }

    /**
     * Runs a task on the thread of the keep-alive, with its connection. The task must be short, and must not wait for locks of other
     * transactions. Ignored after the end.
     *
     * @param what the task, for the log if it fails
     */
    public void execute(String what, Runnable task) {
        thread.execute(() -> {
            attempt(what, task);
            attempt("connection", this::keepOrReturnConnection); // here, because perhaps no turn follows
        });
    }

    /** Deregisters this instance, and unbinds grants that outlive it. */
    public void deregister() {
        List<ScheduledRenewal> outliving = keptAlive(grant -> grant.state.outlivesShutdown());
        with.lease().deregister(() -> {
            with.renewals()
                    .unbind(
                            with.lease().id(),
                            outliving.stream().map(ScheduledRenewal::requestId).toList());
            outliving.forEach(grant -> grant.state.unbind());
        });
    }

    /**
     * Ends a grant that was found to be lost, for all handles in this JVM, and stops keeping it alive. Reports the loss if this JVM held
     * the grant.
     */
    public void lose(GrantHandle found) {
        Optional<HeldGrant> own = with.held().find(found.stored());
        ScheduledRenewal kept = byRequest.remove(found.stored().requestId());
        GrantHandle user = kept == null ? found : kept.handle();
        with.held().end(found.state());
        if (own.isPresent() && own.get().claimEnd() && user != null) {
            report(user, kept, false);
        }
    }

    /** Reports a grant as lost because its release did not find it, unless another process had released it in time. */
    public void reportGone(GrantHandle lost) {
        long requestId = lost.stored().requestId();
        HoldTransactions.Ended ended = with.renewals().findEnded(List.of(lost.stored()));
        if (!ended.releasedInTime().contains(requestId)) {
            report(lost, null, false);
        }
    }

    /** Ends the thread after its current turn. */
    @Override
    public void close() {
        thread.shutdown();
    }

    /** Grants that are kept alive and match. Iterates over all: only for rare events. */
    private List<ScheduledRenewal> keptAlive(Predicate<ScheduledRenewal> filter) {
        return byRequest.values().stream()
                .filter(ScheduledRenewal::isKeptAlive)
                .filter(filter)
                .toList();
    }

    private boolean isAnyKeptAlive() {
        return byRequest.values().stream().anyMatch(ScheduledRenewal::isKeptAlive);
    }

    /** Begins the turns of the thread, unless they have begun. The first turn begins at once, and takes the connection. */
    private void beginTurns() {
        if (turning.compareAndSet(false, true)) {
            scheduleTurn(Duration.ZERO);
        }
    }

    private void scheduleTurn(Duration pause) {
        var unused = thread.schedule(this::turn, pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void turn() {
        attempt("renewal", this::renewDue);
        attempt("heartbeat", this::sendHeartbeat);
        attempt("expiry", this::settleExpired);
        attempt("connection", this::keepOrReturnConnection);
        if (reserved || !byRequest.isEmpty()) {
            scheduleTurn(InstanceLease.PAUSE);
            return;
        }
        turning.set(false);
        if (!byRequest.isEmpty()) { // a grant was added meanwhile
            beginTurns();
        }
    }

    private void keepOrReturnConnection() {
        if (isAnyKeptAlive()) {
            lingering = Deadline.in(LINGER);
        }
        reserved = !thread.isShutdown() && !lingering.isPassed();
        with.connections().keepReserved(reserved);
    }

    /** Runs a task, whose failure must prevent neither the other tasks nor the next turn. */
    private void attempt(String what, Runnable task) {
        try {
            task.run();
        } catch (RuntimeException failure) {
            log.debug("The {} of grants that are kept alive has failed and is tried again", what, failure);
        } catch (Throwable failure) {
            UnexpectedErrors.survive(log, "The keep-alive", failure);
        }
    }

    private void sendHeartbeat() {
        if (isAnyKeptAlive() && with.lease().sendUnlessInProgress(this::confirmGrants)) {
            loseReleasedByForce();
        }
    }

    /**
     * Ends the grants that an operator has released by force on another instance. Their holders would not learn of it before
     * their next renewal, which is far off if the TTL is long.
     */
    private void loseReleasedByForce() {
        Set<String> released = with.renewals().findReleasedByForce();
        Predicate<ScheduledRenewal> isReleased =
                grant -> released.contains(grant.state.grant().externalId());
        if (!released.isEmpty() && !confirm(with.lease().epoch(), isReleased)) {
            with.lease().postpone();
        }
    }

    /**
     * Ends the grants that were reclaimed after the lease had expired, and binds the others to this epoch. A grant that
     * another transaction has locked, and may be reclaiming, does not count as held before that transaction has ended.
     *
     * @return whether no grant was locked
     */
    private boolean confirmGrants(long epoch) {
        keptAlive(grant -> grant.state.isOfFormerId()).forEach(grant -> {
            grant.state.released(); // it belongs to the other process, whose grant its handle must not release
            end(grant, false);
        });
        return confirm(epoch, grant -> !grant.state.isBoundSince(epoch));
    }

    private boolean confirm(long epoch, Predicate<ScheduledRenewal> which) {
        Map<Long, ScheduledRenewal> unconfirmed = new TreeMap<>();
        keptAlive(which).forEach(grant -> unconfirmed.put(grant.requestId(), grant));
        with.renewals()
                .confirm(
                        List.copyOf(unconfirmed.keySet()),
                        outcome -> settle(unconfirmed, outcome, grant -> grant.state.bindTo(with.lease(), epoch)));
        return unconfirmed.isEmpty();
    }

    /** Renews or ends each grant that is kept alive and due, or postpones it if that fails. */
    private void renewDue() {
        Map<Long, ScheduledRenewal> due = due(true);
        due.values().removeIf(grant -> {
            if (grant.isExpired()) {
                end(grant, grant.isLastTerm());
                return true;
            }
            return !grant.isToBeRenewed();
        });
        try {
            if (!due.isEmpty()) {
                renew(due);
            }
        } finally {
            due.values().forEach(ScheduledRenewal::postpone);
        }
    }

    /** The grants that are due, by request. Warns of those that have been held for too long. */
    private Map<Long, ScheduledRenewal> due(boolean keptAlive) {
        Map<Long, ScheduledRenewal> due = new TreeMap<>();
        long now = System.nanoTime();
        byRequest.forEach((requestId, grant) -> {
            if (grant.isKeptAlive() == keptAlive && grant.isDue(now)) {
                warnOfLeak(grant);
                due.put(requestId, grant);
            }
        });
        return due;
    }

    private static void warnOfLeak(ScheduledRenewal grant) {
        Throwable acquiredAt = grant.state.acquiredAt();
        if (grant.leaksNow() && acquiredAt != null) {
            log.warn(
                    "{} has been held for {} ms, longer than semaphore.leak-detection-threshold: its holder may have forgotten to"
                            + " release it. It was acquired here:",
                    grant.handle(),
                    grant.state.heldFor().toMillis(),
                    acquiredAt);
        }
    }

    /**
     * Ends the watched grants that have expired. Another process may have renewed or released them by their external ids, so the database
     * is asked first. If that fails, they are postponed.
     */
    private void settleExpired() {
        Map<Long, ScheduledRenewal> expired = due(false);
        expired.values().removeIf(grant -> !grant.isExpired());
        if (expired.isEmpty()) {
            return;
        }
        try {
            settle(expired.values());
            expired.clear();
        } finally {
            expired.values().forEach(ScheduledRenewal::postpone);
        }
    }

    private void settle(Collection<ScheduledRenewal> watched) {
        long asOf = System.nanoTime();
        HoldTransactions.Ended ended = with.renewals()
                .findEnded(watched.stream().map(grant -> grant.state.grant()).toList());
        for (ScheduledRenewal grant : watched) {
            long requestId = grant.requestId();
            Duration renewed = ended.alive().get(requestId);
            if (renewed != null) {
                grant.state.extend(Deadline.after(asOf, renewed));
            } else if (!ended.releasedInTime().contains(requestId)) {
                if (grant.state.deadline().isPassed()) { // otherwise it was acquired again meanwhile
                    end(grant, true);
                }
            } else if (byRequest.remove(requestId, grant)) { // released in time: nothing to report
                grant.state.claimEnd();
                with.held().end(grant.state);
            }
        }
    }

    /**
     * Renews grants, at most up to their maximum hold, and removes them from the map, except those that another transaction has locked.
     */
    private void renew(Map<Long, ScheduledRenewal> due) {
        long asOf = System.nanoTime();
        Map<Long, Long> millis = new TreeMap<>();
        due.forEach((requestId, grant) -> millis.put(
                requestId,
                TimeUnit.NANOSECONDS.toMillis(grant.renewedUntil(asOf).remainingNanos(asOf))));
        with.renewals()
                .renew(millis, outcome -> settle(due, outcome, grant -> grant.state.extend(grant.renewedUntil(asOf))));
    }

    /**
     * Settles grants by an answer of the database: removes them from the map, except those that another transaction has locked, and
     * ends the lost ones.
     *
     * @param confirmed receives the held grants
     */
    private void settle(
            Map<Long, ScheduledRenewal> asked, HoldTransactions.Outcome outcome, Consumer<ScheduledRenewal> confirmed) {
        outcome.held().stream().map(asked::remove).flatMap(Stream::ofNullable).forEach(confirmed);
        outcome.lost().stream().map(asked::remove).flatMap(Stream::ofNullable).forEach(grant -> end(grant, false));
    }

    /**
     * Reports a grant that was lost or has expired, unless it was released or reported before. An expired grant stays usable: repeating the
     * acquire with the same external id revives it, unless somebody has reclaimed its permits.
     */
    private synchronized void end(ScheduledRenewal grant, boolean expired) {
        if (!byRequest.remove(grant.requestId(), grant)) {
            return;
        }
        boolean untold = grant.state.claimEnd();
        if (!expired) {
            with.held().end(grant.state);
        }
        GrantHandle user = grant.handle(); // after the end: a use that begins later finds that the grant is lost
        if (untold && user != null) {
            reports = reports.handleAsync(
                    (unused, failure) -> {
                        report(user, grant, expired);
                        return true;
                    },
                    with.reporting());
        }
    }

    /**
     * Reports a loss on the calling thread.
     *
     * @param scheduled the renewal; null if the keep-alive did not know the grant
     * @param expired whether the grant is known to have expired
     */
    private void report(GrantHandle lost, @Nullable ScheduledRenewal scheduled, boolean expired) {
        if (!expired || scheduled == null) {
            log.warn(
                    "{} was lost: it was not renewed in time, was released by force, or belongs to a copy of this"
                            + " process. Others may hold its permits now; its work no longer counts against the limit",
                    lost,
                    scheduled == null ? null : scheduled.state.acquiredAt());
        } else if (scheduled.isKeptAlive()) {
            log.warn(
                    "{} has been held for {}, its maximum (semaphore.defaults.max-hold, or maxHold of its request), and"
                            + " has ended. Others may hold its permits now; its work no longer counts against the limit."
                            + " End the work, or raise the maximum",
                    lost,
                    Duration.ofMillis(lost.heldFor().toMillis()),
                    scheduled.state.acquiredAt());
        } else {
            StoredGrant stored = scheduled.state.grant();
            log.warn(
                    "{} expired {} ms ago: it was neither released nor renewed within its TTL of {}. Others may hold its"
                            + " permits now; its work no longer counts against the limit. Release it in time, or acquire"
                            + " with withKeepAlive(true); semaphore.leak-detection-threshold shows where it was acquired",
                    lost,
                    TimeUnit.NANOSECONDS.toMillis(-scheduled.state.deadline().remainingNanos()),
                    stored.ttl(),
                    scheduled.state.acquiredAt());
        }
        with.lost().accept(lost);
    }
}
