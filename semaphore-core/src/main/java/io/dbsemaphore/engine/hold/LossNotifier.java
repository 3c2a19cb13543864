package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports lost grants to the log and to listeners. Losses found by the keep-alive are reported on a separate thread, so that a
 * listener that blocks delays neither renewals nor heartbeats. The thread ends when idle.
 */
final class LossNotifier implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LossNotifier.class);

    private static final Duration IDLE = Duration.ofSeconds(2);
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(2);

    private final ListenerNotifier listeners;
    private final DaemonThreads threads;
    private final Queue<Loss> unreported = new ConcurrentLinkedQueue<>();
    private @Nullable ExecutorService executor;

    LossNotifier(ListenerNotifier listeners, DaemonThreads threads) {
        this.threads = threads;
        this.listeners = listeners;
    }

    /** Reports a loss on the calling thread. Must not be called under a lock, since listeners are code of the application. */
    void report(Loss loss) {
        PermitGrant lost = loss.grant();
        ScheduledRenewal scheduled = loss.scheduled();
        if (!loss.expired() || scheduled == null) {
            log.warn(
                    "{} was lost: it was not renewed in time, or was released by force. Others may have been granted its permits;"
                            + " its work is no longer limited by them",
                    lost,
                    scheduled == null ? null : scheduled.state().acquiredAt());
        } else if (scheduled.isKeptAlive()) {
            log.warn(
                    "{} has been held for its maximum (semaphore.max-hold, or maxHold of its request) and has ended. Others may"
                            + " have been granted its permits; its work is no longer limited by them. End the work, or raise the"
                            + " maximum",
                    lost,
                    scheduled.state().acquiredAt());
        } else {
            StoredGrant stored = scheduled.state().grant();
            log.warn(
                    "{} expired {} ms ago: its TTL of {} has passed, and it was neither released nor renewed. Others may have been"
                            + " granted its permits; work under them is no longer limited. Acquire with withKeepAlive(true), or"
                            + " release it in time; semaphore.leak-detection-threshold tells where it was acquired",
                    lost,
                    TimeUnit.NANOSECONDS.toMillis(-scheduled.state().deadline().remainingNanos()),
                    stored.ttl(),
                    scheduled.state().acquiredAt());
        }
        listeners.tell(listener -> listener.lost(new SemaphoreListener.Lost(lost)));
    }

    /**
     * A lost grant.
     *
     * @param scheduled null if it was not scheduled
     * @param expired whether it is known to have expired
     */
    record Loss(PermitGrant grant, @Nullable ScheduledRenewal scheduled, boolean expired) {}

    /** Reports a loss on a thread of the library. */
    void reportAsync(Loss lost) {
        unreported.add(lost);
        reportRest();
    }

    /** Reports the losses that could not be reported before, since no thread could be started. */
    void reportRest() {
        if (unreported.isEmpty()) {
            return;
        }
        try {
            executor().execute(this::reportAll);
        } catch (RejectedExecutionException | Error failure) {
            log.debug("{} lost grant(s) are reported later", unreported.size(), failure);
        }
    }

    private void reportAll() {
        for (Loss lost = unreported.poll(); lost != null; lost = unreported.poll()) {
            report(lost);
        }
    }

    private synchronized ExecutorService executor() {
        if (executor == null) {
            executor = threads.pool("semaphore-losses", 1, IDLE);
        }
        return executor;
    }

    /** Waits, for a bounded time, until all losses are reported. */
    @Override
    public void close() {
        ExecutorService closed;
        synchronized (this) {
            closed = executor;
            executor = null;
        }
        if (closed == null) {
            return;
        }
        closed.shutdown();
        try {
            if (!closed.awaitTermination(SHUTDOWN_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("A semaphore listener that was notified of a lost grant has not returned at shutdown");
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
