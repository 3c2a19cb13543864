package io.dbsemaphore.engine.support;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.persistence.UndoTransaction;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retries releases that have failed, and undoes acquires of unknown outcome, until that succeeds or the time to live has passed. The
 * scheduler waits for the time of the next attempt; the attempt itself uses threads that may wait for the database. An attempt for which
 * there is no thread is one that has failed.
 */
public final class BackgroundReleaser implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BackgroundReleaser.class);

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0);
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(6);

    private final UndoTransaction undoing;
    private final ScheduledExecutorService scheduler;
    private final Executor database;
    private final Executor listeners;
    private final Set<Task> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Creates a releaser.
     *
     * @param database its threads use the database
     * @param listeners its threads run code of the application
     */
    public BackgroundReleaser(
            UndoTransaction undoing, ScheduledExecutorService scheduler, Executor database, Executor listeners) {
        this.undoing = undoing;
        this.scheduler = scheduler;
        this.database = database;
        this.listeners = listeners;
    }

    /**
     * Runs a release, until it succeeds or the deadline has passed.
     *
     * @param release may continue on another thread
     * @return false if it cannot be run, since this is closed
     */
    public boolean release(String externalId, Supplier<CompletableFuture<?>> release, Deadline until) {
        return submit(new Task("release of " + externalId, release, until, new CompletableFuture<>()), 0);
    }

    /** Runs what may wait, such as code of the application: listeners of a release that has ended. */
    public void execute(Runnable task) {
        try {
            listeners.execute(task);
        } catch (RejectedExecutionException stopped) {
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

    /** Waits, for a bounded time, for the attempts that are due. */
    @Override
    public void close() {
        closed = true;
        CompletableFuture<?> all =
                CompletableFuture.allOf(open.stream().map(Task::done).toArray(CompletableFuture<?>[]::new));
        try {
            @Nullable Object unused = all.get(SHUTDOWN_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            log.warn(
                    "Shut down before {} release(s) were done; their permits become available when their TTL has passed",
                    open.size());
        } catch (ExecutionException failed) {
            log.debug("Some releases were not done", failed); // each has been reported
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean submit(Task task, int attempts) {
        Duration pause = attempts == 0 ? Duration.ZERO : PAUSES.after(attempts);
        if (closed) {
            log.warn(
                    "Shut down before the {} was done; its permits become available when their TTL has passed",
                    task.name);
            end(task, false);
            return false;
        }
        open.add(task);
        ScheduledFuture<?> unused =
                scheduler.schedule(() -> attempt(task, attempts), pause.toMillis(), TimeUnit.MILLISECONDS);
        return true;
    }

    private void attempt(Task task, int attempts) {
        CompletableFuture<?> unused = CompletableFuture.completedFuture(task)
                .thenComposeAsync(each -> each.work.get(), database)
                .whenComplete((result, failure) -> {
                    if (failure == null) {
                        end(task, true);
                    } else if (task.until.isPassed()) {
                        log.warn(
                                "Gave up the {}: its TTL has passed, so its permits are available to others",
                                task.name,
                                failure);
                        end(task, false);
                    } else {
                        log.debug("The {} failed and is tried again", task.name, failure);
                        boolean unusedToo = submit(task, attempts + 1);
                    }
                });
    }

    private void end(Task task, boolean succeeded) {
        open.remove(task);
        boolean unused = succeeded
                ? task.done.complete(true)
                : task.done.completeExceptionally(new IllegalStateException("The " + task.name + " was not done"));
    }

    /** Runs the work on the calling thread. */
    private static CompletableFuture<?> done(Runnable work) {
        work.run();
        return CompletableFuture.completedFuture(Boolean.TRUE);
    }

    private record Task(
            String name, Supplier<CompletableFuture<?>> work, Deadline until, CompletableFuture<Boolean> done) {}
}
