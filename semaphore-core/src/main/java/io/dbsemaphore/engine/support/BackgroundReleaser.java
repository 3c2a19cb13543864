package io.dbsemaphore.engine.support;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.persistence.UndoTransaction;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retries releases that have failed, and undoes acquires of unknown outcome, on one thread, until that succeeds or the time to
 * live has passed.
 */
public final class BackgroundReleaser implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BackgroundReleaser.class);

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0);
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(6);

    private final UndoTransaction undoing;
    private final ScheduledThreadPoolExecutor thread;

    public BackgroundReleaser(UndoTransaction undoing, DaemonThreads threads) {
        this.undoing = undoing;
        this.thread = threads.scheduler("semaphore-background");
        thread.prestartCoreThread(); // it may not be possible to start a thread later
    }

    /**
     * Runs a release, until it succeeds or the deadline has passed.
     *
     * @param release may continue on another thread, so that a slow release does not block the others
     * @return false if it cannot be run, since this is closed
     */
    public boolean release(String externalId, Supplier<CompletableFuture<?>> release, Deadline until) {
        return submit(new Task("release of " + externalId, release, until, new CompletableFuture<>()), 0);
    }

    /** Runs a short task, once. */
    public void execute(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException closed) {
            task.run();
        }
    }

    /** Undoes an acquire of unknown outcome, until that succeeds or its time to live would have passed. */
    public void undo(AcquireState acquire) {
        boolean unused = submit(undoingOf(acquire), 1);
    }

    /** As {@link #undo}, at once. The future is completed when that has succeeded. */
    public CompletableFuture<?> undoNow(AcquireState acquire) {
        Task task = undoingOf(acquire);
        boolean unused = submit(task, 0);
        return task.done;
    }

    private Task undoingOf(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        Deadline until = command.ttl() == null ? Deadline.NEVER : Deadline.in(command.ttl());
        return new Task(
                "undoing of " + command.externalId(),
                () -> done(() -> undoing.undo(acquire)),
                until,
                new CompletableFuture<>());
    }

    /** Waits, for a bounded time, for the tasks that are due. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(SHUTDOWN_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn(
                        "Shut down before {} release(s) were done; their permits become available when their TTL has passed",
                        thread.shutdownNow().size());
            }
        } catch (InterruptedException interrupt) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private boolean submit(Task task, int attempts) {
        Duration pause = attempts == 0 ? Duration.ZERO : PAUSES.after(attempts);
        try {
            ScheduledFuture<?> unused =
                    thread.schedule(() -> run(task, attempts), pause.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (RejectedExecutionException closed) {
            log.warn(
                    "Shut down before the {} was done; its permits become available when their TTL has passed",
                    task.name);
            task.done.completeExceptionally(closed);
            return false;
        }
    }

    private void run(Task task, int attempts) {
        CompletableFuture<?> done;
        try {
            done = task.work.get();
        } catch (RuntimeException | Error failure) {
            done = CompletableFuture.failedFuture(failure);
        }
        CompletableFuture<?> unused = done.whenComplete((result, failure) -> {
            if (failure != null) {
                failed(task, attempts, failure);
            } else {
                task.done.complete(true);
            }
        });
    }

    private void failed(Task task, int attempts, Throwable failure) {
        if (task.until.isPassed()) {
            log.warn("Gave up the {}: its TTL has passed, so its permits are available to others", task.name, failure);
            task.done.completeExceptionally(failure);
            return;
        }
        log.debug("The {} failed and is tried again", task.name, failure);
        boolean unused = submit(task, attempts + 1);
    }

    /** Runs the work on the calling thread. */
    public static CompletableFuture<?> done(Runnable work) {
        work.run();
        return CompletableFuture.completedFuture(Boolean.TRUE);
    }

    private record Task(
            String name, Supplier<CompletableFuture<?>> work, Deadline until, CompletableFuture<Object> done) {}
}
