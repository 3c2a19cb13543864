package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks at the same time, each on a thread of its own: none begins before all threads are there, and all must be
 * done by a deadline.
 */
public final class Concurrently {

    private Concurrently() {}

    /** A task that is run by several threads. */
    @FunctionalInterface
    public interface Task<T extends @Nullable Object> {

        /**
         * Does its work.
         *
         * @param index which of the threads this is, from 0
         */
        T call(int index) throws Exception;
    }

    /** A task that is run by several threads, without a result. */
    @FunctionalInterface
    public interface Action {

        /**
         * Does its work.
         *
         * @param index which of the threads this is, from 0
         */
        void run(int index) throws Exception;
    }

    /** Runs one task on so many threads, see {@link #call(Duration, List)}. */
    public static <T extends @Nullable Object> List<T> call(int threads, Duration deadline, Task<T> task) {
        return call(
                deadline,
                IntStream.range(0, threads)
                        .mapToObj(index -> (Callable<T>) () -> task.call(index))
                        .toList());
    }

    /** Runs one action on so many threads, see {@link #call(Duration, List)}. */
    public static void run(int threads, Duration deadline, Action action) {
        Task<@Nullable Object> task = index -> {
            action.run(index);
            return null;
        };
        call(threads, deadline, task);
    }

    /**
     * Runs each task on a thread of its own.
     *
     * @param deadline how long all of them together may take; then they are interrupted
     * @return their results, in the order of the tasks
     * @throws AssertionError when they are not done by the deadline; it shows where each of them was
     * @throws RuntimeException the first failure in the order of the tasks, as it was thrown where it is unchecked; the
     *     failures of the others are suppressed in it
     */
    public static <T extends @Nullable Object> List<T> call(Duration deadline, List<? extends Callable<T>> tasks) {
        long end = System.nanoTime() + deadline.toNanos();
        CountDownLatch arrived = new CountDownLatch(tasks.size());
        List<FutureTask<T>> runs = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Callable<T> task : tasks) {
            FutureTask<T> run = new FutureTask<>(() -> {
                arrived.countDown();
                arrived.await();
                return task.call();
            });
            Thread thread = new Thread(run, "concurrently-" + runs.size());
            thread.setDaemon(true);
            runs.add(run);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        try {
            for (Thread thread : threads) {
                TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, end - System.nanoTime()));
            }
        } catch (InterruptedException e) {
            threads.forEach(Thread::interrupt);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + tasks.size() + " tasks ran", e);
        }
        List<Thread> late = threads.stream().filter(Thread::isAlive).toList();
        if (!late.isEmpty()) {
            String where = late.stream().map(Concurrently::describe).collect(Collectors.joining("\n"));
            late.forEach(Thread::interrupt);
            throw Measurement.late(
                    "%d of %d tasks are not done after %s:%n%s".formatted(late.size(), tasks.size(), deadline, where));
        }
        return results(runs);
    }

    /** Runs the task on a thread of its own. */
    public static <T extends @Nullable Object> Future<T> async(Callable<T> task) {
        return async("async", task);
    }

    /** Runs the task on a thread of its own, with this name. */
    public static <T extends @Nullable Object> Future<T> async(String threadName, Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, threadName);
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    /** The result of a task that must come soon. */
    public static <T extends @Nullable Object> T get(Future<T> future) throws Exception {
        return get(future, Duration.ofSeconds(30));
    }

    /** The result of a task that must come within this time. */
    public static <T extends @Nullable Object> T get(Future<T> future, Duration timeout) throws Exception {
        return future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Asserts that a task is still not done after a while. */
    public static void assertWaits(Future<?> future) {
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> future.get(400, TimeUnit.MILLISECONDS));
    }

    private static <T extends @Nullable Object> List<T> results(List<FutureTask<T>> runs) {
        List<T> results = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (FutureTask<T> run : runs) {
            try {
                results.add(run.get(0, TimeUnit.SECONDS));
            } catch (ExecutionException e) {
                failures.add(e.getCause());
            } catch (Exception e) {
                failures.add(e);
            }
        }
        if (failures.isEmpty()) {
            return results;
        }
        Throwable first = failures.get(0);
        failures.stream().skip(1).filter(other -> other != first).forEach(first::addSuppressed);
        if (first instanceof Error error) {
            throw error;
        }
        throw first instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(first);
    }

    private static String describe(Thread thread) {
        return Stream.concat(
                        Stream.of(thread.getName() + " " + thread.getState()),
                        Stream.of(thread.getStackTrace()).map(frame -> "    at " + frame))
                .collect(Collectors.joining("\n"));
    }
}
