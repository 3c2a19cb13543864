package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.ReleaseTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The orderly shutdown: no further acquires are granted, work in progress may complete within a bounded time, and grants that
 * are still held then are released. Takes a bounded time also if the database is unavailable. Grants without a time to live,
 * and those whose request says so, outlive the JVM.
 */
final class Shutdown {

    private static final Logger log = LoggerFactory.getLogger(Shutdown.class);

    private static final Duration DATABASE_TIMEOUT = Duration.ofSeconds(10);

    private final AdmissionGate gate;
    private final ReuseService reuse;
    private final GroupCommit commit;
    private final GrantRegistry held;
    private final KeepAlive keepAlive;
    private final ReleaseTransaction releases;
    private final Retries retry;
    private final ListenerNotifier listeners;
    private final DaemonThreads threads;

    Shutdown(
            AdmissionGate gate,
            ReuseService reuse,
            GroupCommit commit,
            GrantRegistry held,
            KeepAlive keepAlive,
            ReleaseTransaction releases,
            Retries retry,
            ListenerNotifier listeners,
            DaemonThreads threads) {
        this.gate = gate;
        this.reuse = reuse;
        this.commit = commit;
        this.held = held;
        this.keepAlive = keepAlive;
        this.releases = releases;
        this.retry = retry;
        this.listeners = listeners;
        this.threads = threads;
    }

    /** Shuts down. Takes at most this time for the work, and some seconds for the database. */
    void run(Duration workTimeout) {
        try {
            gate.close();
            reuse.close();
            commit.stopAcquires(); // waiting callers get an exception
            if (!gate.awaitNone(DATABASE_TIMEOUT)) {
                log.warn(
                        "Some acquires were still in progress after {}; their permits become available when their TTL has passed",
                        DATABASE_TIMEOUT);
            }
            held.awaitNoWork(Deadline.in(workTimeout));
            if (!reuse.awaitReturns(Deadline.in(DATABASE_TIMEOUT))) {
                log.warn(
                        "Some idle permits had not gone back after {}; they become available when the instance counts as dead"
                                + " (semaphore.instance-timeout), or when their TTL has passed",
                        DATABASE_TIMEOUT);
            }
            releaseRest();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            log.warn(
                    "The shutdown was interrupted; permits that are still held become available when their TTL has passed");
        } finally {
            keepAlive.close();
        }
    }

    private void releaseRest() throws InterruptedException {
        List<HeldGrant> rest =
                held.all().stream().filter(state -> !state.outlivesShutdown()).toList();
        FutureTask<Integer> release = new FutureTask<>(() -> release(rest));
        threads.start("semaphore-shutdown", release);
        @Nullable Exception cause = null;
        try {
            int released = release.get(DATABASE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            if (released > 0) {
                log.info("Released {} grant(s) that were still held at shutdown", released);
            }
        } catch (TimeoutException | ExecutionException failure) {
            release.cancel(true);
            cause = failure;
        }
        long left = rest.stream().filter(state -> !state.isReleased()).count();
        if (left > 0) {
            log.warn(
                    "{} grant(s) could not be released at shutdown; their permits become available when their TTL has passed",
                    left,
                    cause);
        }
    }

    private int release(List<HeldGrant> rest) {
        rest.forEach(state -> {
            boolean unused = state.claimEnd();
            state.end();
            PermitGrant unusedToo = keepAlive.stop(state.grant().requestId());
            held.end(state.grant().requestId());
        });
        // each in its own transaction, and locked ones last, so that they do not delay the others
        List<HeldGrant> locked = new ArrayList<>();
        int released = 0;
        for (HeldGrant state : rest) {
            if (Thread.currentThread().isInterrupted()) {
                return released; // the shutdown does not wait any longer
            }
            try {
                released += release(state);
            } catch (RuntimeException failure) {
                locked.add(state);
            }
        }
        for (HeldGrant state : locked) {
            try {
                released += retry.call(() -> release(state));
            } catch (RuntimeException failure) {
                log.debug("{} could not be released at shutdown", state.grant(), failure);
            }
        }
        keepAlive.deregister();
        return released;
    }

    private int release(HeldGrant state) {
        ReleaseOutcome outcome = releases.release(state.grant());
        state.released();
        if (outcome != ReleaseOutcome.RELEASED) {
            return 0;
        }
        listeners.tell(listener ->
                listener.released(state.grant().externalId(), state.grant().counts(), state.heldFor()));
        return 1;
    }
}
