package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Unforeseen;
import io.dbsemaphore.persistence.RenewTransaction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps grants alive while their work runs: one thread for all of them, which exists while there is something to keep.
 * All that is due is renewed by one statement, at a third of the time to live. While the database is away it goes on
 * trying; a grant whose deadline passes meanwhile is lost.
 */
final class KeepAlive implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KeepAlive.class);

    private final RenewTransaction renewals;
    private final InstanceLease lease;
    private final DaemonThreads threads;
    private final KeptGrants kept;
    private final Heartbeat heartbeat;
    private final Duration longestInterval;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean running;
    private volatile boolean closed;

    KeepAlive(
            RenewTransaction renewals,
            InstanceLease lease,
            HeldGrants held,
            Listeners listeners,
            DaemonThreads threads,
            Duration longestInterval) {
        this.renewals = renewals;
        this.lease = lease;
        this.threads = threads;
        this.kept = new KeptGrants(held, listeners);
        this.heartbeat = new Heartbeat(renewals, lease, kept);
        this.longestInterval = longestInterval;
    }

    /** Keeps the grant alive until it ends, or the maximum hold has passed. */
    void keep(GrantState state, PermitGrant handle, Duration maxHold) {
        kept.add(new KeptGrant(state, handle, maxHold, longestInterval));
        lock.lock();
        try {
            if (!running && !closed) {
                threads.start("semaphore-keep-alive", this::run);
                running = true;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** See {@link Heartbeat#ensureBelieved}. */
    long ensureBelieved() {
        return heartbeat.ensureBelieved();
    }

    /** See {@link Heartbeat#settle}. */
    void settle(GrantState state) {
        heartbeat.settle(state);
    }

    /** See {@link Heartbeat#leave}. */
    void leave() {
        heartbeat.leave();
    }

    /** Ends a grant that its holder found to be lost, and stops to keep it alive. */
    void lose(GrantState state, PermitGrant handle) {
        kept.lose(state, handle);
    }

    /** Looks again what is due when: a time to live has changed. */
    void reconsider() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Stops to keep the grant alive; before its release is tried. */
    void stop(long requestId) {
        kept.remove(requestId);
    }

    @Override
    public void close() {
        closed = true;
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = awaitDue();
                if (goesOn) {
                    survive("heartbeat", heartbeat::beatUnlessUnderWay, lease::postpone);
                    survive("renewal", this::renewDue, () -> due().forEach(KeptGrant::postpone));
                    survive("end of what was not renewed", this::losePassed, () -> {});
                }
            } catch (Throwable failure) {
                Unforeseen.survive(log, "The keep-alive", failure);
            }
        }
    }

    /** This thread must not end while there is something to keep, nor one failure stand in the way of the rest. */
    private void survive(String what, Runnable task, Runnable onFailure) {
        try {
            task.run();
        } catch (RuntimeException | Error failure) {
            log.debug("The {} of {} grant(s) failed and is tried again", what, kept.size(), failure);
            onFailure.run();
        }
    }

    private List<KeptGrant> due() {
        return kept.all(KeptGrant::isDue);
    }

    private void renewDue() {
        warnAtMaxHold();
        Map<Long, KeptGrant> byRequest = new TreeMap<>();
        due().forEach(grant -> byRequest.put(grant.requestId(), grant));
        if (byRequest.isEmpty()) {
            return;
        }
        long asOf = System.nanoTime();
        Set<Long> lost = renewals.keepAlive(byRequest.keySet());
        byRequest.forEach((requestId, grant) -> {
            if (!lost.contains(requestId)) {
                grant.renewed(asOf);
            } else if (kept.end(grant)) {
                kept.tell(List.of(grant));
            }
        });
    }

    private void warnAtMaxHold() {
        kept.all(KeptGrant::runOutAtMaxHold)
                .forEach(grant -> log.warn(
                        "{} has been held for its maximum (semaphore.max-hold) and is not renewed any more: unless the work"
                                + " ends before, others get its permits when its TTL has passed",
                        grant.handle()));
    }

    private void losePassed() {
        kept.tell(kept.all(grant -> grant.state().deadline().isPassed()).stream()
                .filter(kept::end)
                .toList());
    }

    /** Waits until something is due; false when there is nothing left to do for this thread. */
    private boolean awaitDue() {
        lock.lock();
        try {
            while (!closed && !kept.isEmpty()) {
                long nanos = Math.min(lease.nanosToNextBeat(), kept.nanosToNextDue());
                if (nanos <= 0) {
                    return true;
                }
                await(nanos);
            }
            running = false;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Waking early does no harm: the caller looks again what is due. */
    @SuppressWarnings("WaitNotInLoop")
    private void await(long nanos) {
        try {
            long unused = changed.awaitNanos(nanos);
        } catch (InterruptedException nobodyMayEndThisThread) {
            log.debug("The keep-alive thread goes on although it was interrupted", nobodyMayEndThisThread);
        }
    }
}
