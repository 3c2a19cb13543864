package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.batch.BatchingGranter;
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
 * The orderly end: nothing more is granted, work under way may finish for a while, and what this JVM still holds then is
 * released. Bounded throughout, also when the database is away. What is held without a time to live outlives the JVM.
 */
final class Shutdown {

    private static final Logger log = LoggerFactory.getLogger(Shutdown.class);

    private static final Duration DATABASE_PATIENCE = Duration.ofSeconds(10);

    private final AdmissionGate intake;
    private final BatchingGranter granter;
    private final GrantRegistry held;
    private final KeepAlive keepAlive;
    private final ReleaseTransaction releases;
    private final Retries retry;
    private final ListenerNotifier listeners;
    private final DaemonThreads threads;

    Shutdown(
            AdmissionGate intake,
            BatchingGranter granter,
            GrantRegistry held,
            KeepAlive keepAlive,
            ReleaseTransaction releases,
            Retries retry,
            ListenerNotifier listeners,
            DaemonThreads threads) {
        this.intake = intake;
        this.granter = granter;
        this.held = held;
        this.keepAlive = keepAlive;
        this.releases = releases;
        this.retry = retry;
        this.listeners = listeners;
        this.threads = threads;
    }

    /** Ends what this JVM does. Returns after the patience and some seconds for the database at most. */
    void run(Duration patienceWithWork) {
        try {
            intake.close();
            granter.close(); // whoever waits is told that there is nothing to wait for
            if (!intake.awaitNone(DATABASE_PATIENCE)) {
                log.warn(
                        "Some acquires were still under way after {}; what they get is free when its TTL has passed",
                        DATABASE_PATIENCE);
            }
            held.awaitNoWork(Deadline.in(patienceWithWork));
            releaseRest();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            log.warn("The shutdown was interrupted; what is still held is free when its TTL has passed");
        } finally {
            keepAlive.close();
        }
    }

    private void releaseRest() throws InterruptedException {
        List<HeldGrant> rest =
                held.all().stream().filter(state -> state.grant().ttl() != null).toList();
        FutureTask<Integer> release = new FutureTask<>(() -> release(rest));
        if (!threads.start("semaphore-shutdown", release)) {
            release.run(); // here, since there may be no thread in time
        }
        @Nullable Exception why = null;
        try {
            int released = release.get(DATABASE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            if (released > 0) {
                log.info("Released {} grant(s) that were still held at shutdown", released);
            }
        } catch (TimeoutException | ExecutionException failure) {
            release.cancel(true);
            why = failure;
        }
        long left = rest.stream().filter(state -> !state.isReleased()).count();
        if (left > 0) {
            log.warn(
                    "{} grant(s) could not be released at shutdown; they are free when their TTL has passed",
                    left,
                    why);
        }
    }

    private int release(List<HeldGrant> rest) {
        rest.forEach(state -> {
            state.end();
            keepAlive.stop(state.grant().requestId());
            held.end(state.grant().requestId());
        });
        // each by itself, and those last that somebody has locked: they must not keep the others from being released
        List<HeldGrant> locked = new ArrayList<>();
        int released = 0;
        for (HeldGrant state : rest) {
            if (Thread.currentThread().isInterrupted()) {
                return released; // nobody waits for it any more
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
