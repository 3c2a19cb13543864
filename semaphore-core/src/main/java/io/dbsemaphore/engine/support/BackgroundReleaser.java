package io.dbsemaphore.engine.support;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.persistence.UndoTransaction;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives back what could not be given back at once: on one thread of the library, again and again until it succeeds or
 * the time to live has done it.
 */
public final class BackgroundReleaser implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BackgroundReleaser.class);

    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration MAX_DELAY = Duration.ofSeconds(5);
    private static final Duration PATIENCE_AT_END = Duration.ofSeconds(6);

    private final UndoTransaction undoing;
    private final ScheduledExecutorService thread;

    public BackgroundReleaser(UndoTransaction undoing, DaemonThreads threads) {
        this.undoing = undoing;
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(1, threads.named("semaphore-background"));
        executor.setRemoveOnCancelPolicy(true);
        executor.prestartCoreThread(); // there may be no thread to be had when it is needed
        this.thread = executor;
    }

    /**
     * Runs a release, from now until it succeeds or the deadline has passed.
     *
     * @param release may go on elsewhere, so that one that takes long does not hold up the others
     */
    public void release(String externalId, Supplier<CompletableFuture<?>> release, Deadline until) {
        submit(new Task("release of " + externalId, release, until), Duration.ZERO);
    }

    /** Runs something quick, once. */
    public void execute(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException closed) {
            task.run();
        }
    }

    /** Undoes an order of unknown fate, until it succeeds or its time to live would have passed. */
    public void undo(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        Deadline until = command.ttl() == null ? Deadline.NEVER : Deadline.in(command.ttl());
        submit(
                new Task("undoing of " + command.externalId(), () -> done(() -> undoing.undo(acquire)), until),
                FIRST_DELAY);
    }

    /** Lets what is to be done be tried once more, for a bounded time. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(PATIENCE_AT_END.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn(
                        "Shut down before {} release(s) were done; their permits are free when their TTL has passed",
                        thread.shutdownNow().size());
            }
        } catch (InterruptedException interrupt) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void submit(Task task, Duration delay) {
        try {
            ScheduledFuture<?> unused =
                    thread.schedule(() -> run(task, delay), delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closed) {
            log.warn("Shut down before the {} was done; its permits are free when their TTL has passed", task.name);
        }
    }

    private void run(Task task, Duration lastDelay) {
        CompletableFuture<?> done;
        try {
            done = task.work.get();
        } catch (RuntimeException | Error failure) {
            done = CompletableFuture.failedFuture(failure);
        }
        CompletableFuture<?> unused = done.whenComplete((result, failure) -> {
            if (failure != null) {
                failed(task, lastDelay, failure);
            }
        });
    }

    private void failed(Task task, Duration lastDelay, Throwable failure) {
        if (task.until.isPassed()) {
            log.warn("Gave up the {}: its TTL has passed, so its permits are takeable by now", task.name, failure);
            return;
        }
        Duration delay = lastDelay.multipliedBy(2);
        delay = delay.compareTo(FIRST_DELAY) < 0 ? FIRST_DELAY : delay;
        log.debug("The {} failed and is tried again", task.name, failure);
        submit(task, delay.compareTo(MAX_DELAY) > 0 ? MAX_DELAY : delay);
    }

    /** Runs it on this thread. */
    public static CompletableFuture<?> done(Runnable work) {
        work.run();
        return CompletableFuture.completedFuture(Boolean.TRUE);
    }

    private record Task(String name, Supplier<CompletableFuture<?>> work, Deadline until) {}
}
