package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.BackOff;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.persistence.UndoTransaction;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
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
 * scheduler waits between the attempts, and other threads make them. An attempt for which there is no thread counts as failed.
 */
public final class BackgroundReleaser implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BackgroundReleaser.class);

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0);
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(6);

    private final UndoTransaction undoing;
    private final ScheduledExecutorService scheduler;
    private final Executor database;
    private final Set<Task> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Creates a releaser.
     *
     * @param database runs the attempts
     */
    public BackgroundReleaser(UndoTransaction undoing, ScheduledExecutorService scheduler, Executor database) {
        this.undoing = undoing;
        this.scheduler = scheduler;
        this.database = database;
    }

    /**
     * Runs a release, until it succeeds or the deadline has passed.
     *
     * @param release may continue on another thread
     * @return false if this releaser is closed
     */
    public boolean release(String externalId, Supplier<CompletableFuture<?>> release, Deadline until) {
        return submit(new Task("release of " + externalId, release, until, new CompletableFuture<>()), 0);
    }

    /**
     * Undoes an acquire of unknown outcome, until that succeeds or its time to live has passed.
     *
     * @return a future of whether it has succeeded
     */
    public CompletableFuture<Boolean> undo(AcquireState acquire) {
        return undo(acquire, false);
    }

    /** Undoes an acquire that this JVM may have kept alive, and whose last caller has left. */
    public CompletableFuture<Boolean> undoKeptAlive(AcquireState acquire) {
        return undo(acquire, true);
    }

    private CompletableFuture<Boolean> undo(AcquireState acquire, boolean keptAlive) {
        AcquireCommand command = acquire.command();
        Deadline until = command.ttl() == null ? Deadline.NEVER : Deadline.in(command.ttl());
        Supplier<CompletableFuture<?>> work = () -> {
            undoing.undo(acquire, keptAlive);
            return CompletableFuture.completedFuture(true);
        };
        Task task = new Task("undoing of " + command.externalId(), work, until, new CompletableFuture<>());
        boolean unused = submit(task, 0);
        return task.done;
    }

    /** Waits for the attempts that are due, for a limited time. */
    @Override
    public void close() {
        closed = true;
        CompletableFuture<?> all =
                CompletableFuture.allOf(open.stream().map(Task::done).toArray(CompletableFuture<?>[]::new));
        try {
            @Nullable Object unused = all.get(SHUTDOWN_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException late) {
            log.warn(
                    "Shut down before {} release(s) succeeded; their permits become available when their TTL has passed",
                    open.size());
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends all retries, for example because the tables are gone. Returns their number. */
    public int abandon() {
        List<Task> abandoned = List.copyOf(open);
        abandoned.forEach(task -> end(task, false));
        return abandoned.size();
    }

    private boolean submit(Task task, int attempts) {
        Duration pause = attempts == 0 ? Duration.ZERO : PAUSES.after(attempts);
        if (closed) {
            log.warn(
                    "Shut down before the {} succeeded; its permits become available when their TTL has passed",
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
                    if (failure == null || task.done.isDone()) {
                        end(task, failure == null);
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
        task.done.complete(succeeded);
    }

    private record Task(
            String name, Supplier<CompletableFuture<?>> work, Deadline until, CompletableFuture<Boolean> done) {}
}
