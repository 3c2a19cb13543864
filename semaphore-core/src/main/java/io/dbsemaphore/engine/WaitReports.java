package io.dbsemaphore.engine;

import io.dbsemaphore.QueuePosition;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the {@linkplain QueuePosition.Listener listeners} of waiting callers where these stand. Looks on the scheduler for what has changed,
 * soon after a caller has come and then once a second, while there is a caller with a listener. Costs nothing otherwise.
 */
final class WaitReports {

    private static final Logger log = LoggerFactory.getLogger(WaitReports.class);

    /** Most callers that are served soon are served before this, and are not told that they wait. */
    private static final long FIRST_MILLIS = 50;

    private static final long INTERVAL_MILLIS = 1_000;

    private final ScheduledExecutorService scheduler;
    private final Executor listenerThreads;
    private final Set<Report> reports = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isScheduled = new AtomicBoolean();

    /**
     * Creates an instance without listeners.
     *
     * @param scheduler looks for changes; never blocks
     * @param listenerThreads call the listeners, which may block
     */
    WaitReports(ScheduledExecutorService scheduler, Executor listenerThreads) {
        this.scheduler = scheduler;
        this.listenerThreads = listenerThreads;
    }

    /** Begins to tell a listener where a caller stands, until the caller has its result. */
    void begin(QueuePosition.Listener listener, QueuePosition.Source caller, CompletableFuture<?> result) {
        Report report = new Report(listener, caller);
        reports.add(report);
        CompletableFuture<?> unused = result.whenComplete((answer, failure) -> reports.remove(report));
        schedule(report::look, FIRST_MILLIS);
        scheduleAll();
    }

    private void scheduleAll() {
        if (!reports.isEmpty() && isScheduled.compareAndSet(false, true)) {
            schedule(this::lookAtAll, INTERVAL_MILLIS);
        }
    }

    private void lookAtAll() {
        reports.forEach(Report::look);
        isScheduled.set(false);
        scheduleAll();
    }

    private void schedule(Runnable look, long millis) {
        try {
            ScheduledFuture<?> unused = scheduler.schedule(look, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            reports.clear();
        }
    }

    /** What the listener of one caller was told. Used by the scheduler, and while it is telling by the thread that tells. */
    private final class Report {

        private final QueuePosition.Listener listener;
        private final QueuePosition.Source caller;
        private final AtomicBoolean isTelling = new AtomicBoolean();
        private List<Long> told = List.of();

        private Report(QueuePosition.Listener listener, QueuePosition.Source caller) {
            this.listener = listener;
            this.caller = caller;
        }

        /** Has the listener told, if the position has changed and the listener is not being told. */
        private void look() {
            if (isTelling.compareAndSet(false, true)) {
                if (isChanged(caller.positions())) {
                    listenerThreads.execute(this::tell);
                } else {
                    isTelling.set(false);
                }
            }
        }

        private boolean isChanged(List<QueuePosition> positions) {
            return !positions.isEmpty() && !ahead(positions).equals(told);
        }

        private static List<Long> ahead(List<QueuePosition> positions) {
            return positions.stream().map(QueuePosition::ahead).toList();
        }

        /** Asks again: the thread may have been busy for long. */
        private void tell() {
            try {
                List<QueuePosition> positions = caller.positions();
                if (isChanged(positions)) {
                    told = ahead(positions);
                    listener.waiting(positions);
                }
            } catch (Throwable failure) { // of the application; thrown, it would end the thread
                log.warn("The wait listener {} threw an exception, which is ignored", listener, failure);
            } finally {
                isTelling.set(false);
            }
        }
    }
}
