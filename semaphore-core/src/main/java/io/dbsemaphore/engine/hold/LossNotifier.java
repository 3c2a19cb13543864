package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.support.ListenerNotifier;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of grants that were lost: what the keep-alive finds, on a thread of its own, so that a listener that blocks delays
 * neither renewals nor heartbeats. The thread exists while there is something to tell.
 */
final class LossNotifier implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LossNotifier.class);

    private static final Duration IDLE = Duration.ofSeconds(2);
    private static final Duration PATIENCE_AT_END = Duration.ofSeconds(2);

    private final ListenerNotifier listeners;
    private final DaemonThreads threads;
    private final Queue<PermitGrant> untold = new ConcurrentLinkedQueue<>();
    private @Nullable ThreadPoolExecutor executor;

    LossNotifier(ListenerNotifier listeners, DaemonThreads threads) {
        this.threads = threads;
        this.listeners = listeners;
    }

    /** Tells it on this thread. Never under a lock: listeners are the host's code. */
    void tell(PermitGrant lost) {
        log.warn(
                "{} was lost: it was not renewed in time, or was taken away. Others may work in its place; what it was to"
                        + " protect is protected no longer",
                lost);
        listeners.tell(listener -> listener.lost(lost));
    }

    /** Tells it on a thread of the library. */
    void tellSoon(PermitGrant lost) {
        untold.add(lost);
        tellRest();
    }

    /** Has told what could not be told before, since no thread could be started. */
    void tellRest() {
        if (untold.isEmpty()) {
            return;
        }
        try {
            executor().execute(this::tellAll);
        } catch (RejectedExecutionException | Error failure) {
            log.debug("{} lost grant(s) are told later", untold.size(), failure);
        }
    }

    private void tellAll() {
        for (PermitGrant lost = untold.poll(); lost != null; lost = untold.poll()) {
            tell(lost);
        }
    }

    private synchronized ThreadPoolExecutor executor() {
        if (executor == null) {
            executor = new ThreadPoolExecutor(
                    1,
                    1,
                    IDLE.toMillis(),
                    TimeUnit.MILLISECONDS,
                    new LinkedBlockingQueue<>(),
                    threads.named("semaphore-losses"));
            executor.allowCoreThreadTimeOut(true);
        }
        return executor;
    }

    /** Lets what is to be told be told, for a bounded time. */
    @Override
    public void close() {
        ThreadPoolExecutor closed;
        synchronized (this) {
            closed = executor;
            executor = null;
        }
        if (closed == null) {
            return;
        }
        closed.shutdown();
        try {
            if (!closed.awaitTermination(PATIENCE_AT_END.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("A semaphore listener that was told of a lost grant has not returned at shutdown");
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
