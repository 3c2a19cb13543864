package io.dbsemaphore.jdbc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.concurrent.Uninterruptibles;
import java.util.Objects;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ReflectionUtils;

/**
 * A few threads of the library ({@code semaphore-database-N}), on which it uses the host's {@code DataSource}. A caller's thread is not
 * safe: in a global transaction (JTA), a pool would return the enlisted connection; on a virtual thread, an interrupt would close the
 * socket; and a {@code DataSource} may choose a database by thread.
 *
 * <p>There is one thread for each connection that may be in use at a time, except the keep-alive's, and at least two. Work begins in the
 * order of its submission. At most two calls for each thread are submitted at a time, so that a crowd of callers delays batches only by a
 * few calls. The threads run from {@link #start} to {@link #stop}. Before and after that, they start when there is work, and end after a
 * second without any.
 */
public final class DatabaseThreads implements Executor {

    private static final Logger log = LoggerFactory.getLogger(DatabaseThreads.class);

    /** Two, because a listener that one thread calls may release a grant, which takes another thread. */
    private static final int FEWEST = 2;

    private final ScheduledThreadPoolExecutor threads;

    /** Permits to submit a call: for each thread, one call that runs and one that is next. */
    private final Semaphore calls;

    @SuppressWarnings("ThreadLocalUsage") // there is one engine for each database
    private final ThreadLocal<Boolean> own = ThreadLocal.withInitial(() -> false);

    /**
     * Creates the executor. It has no threads yet.
     *
     * @param maxConnections how many connections may be used at a time. One of them is the keep-alive's, unless it is the only one
     */
    public DatabaseThreads(int maxConnections, DaemonThreads factory) {
        int count = Math.max(FEWEST, maxConnections - 1);
        threads = new ScheduledThreadPoolExecutor(count, factory.numbered("semaphore-database"));
        calls = new Semaphore(2 * count, true);
        threads.setRemoveOnCancelPolicy(true);
        threads.setKeepAliveTime(1, TimeUnit.SECONDS);
        stop();
    }

    /**
     * Starts all threads.
     *
     * @throws OutOfMemoryError if the system has no more threads
     */
    public void start() {
        threads.allowCoreThreadTimeOut(false);
        threads.prestartAllCoreThreads();
    }

    /** Lets the threads end when they have nothing to do. */
    public void stop() {
        threads.allowCoreThreadTimeOut(true);
    }

    /** Does database work on one of the threads, without waiting for it. */
    @Override
    public void execute(Runnable work) {
        schedule(work, 0);
    }

    /** Does database work after this delay. */
    @CanIgnoreReturnValue
    public ScheduledFuture<?> schedule(Runnable work, long nanos) {
        return threads.schedule(
                () -> {
                    own.set(true);
                    try {
                        work.run();
                    } catch (Throwable failure) { // the work answers its callers
                        UnexpectedErrors.survive(log, "The database work of the semaphores", failure);
                    }
                },
                nanos,
                TimeUnit.NANOSECONDS);
    }

    /** Whether work waits for a thread. */
    public boolean areBusy() {
        Delayed next = (Delayed) threads.getQueue().peek();
        return next != null && next.getDelay(TimeUnit.NANOSECONDS) <= 0;
    }

    /**
     * Does database work on one of the threads, and waits for it. If the caller is one of them, it does the work itself. An interrupt does
     * not end the work; the interrupt flag is kept. The caller must not hold a lock that one of the threads may wait for.
     */
    public <T extends @Nullable Object> T call(Supplier<T> work) {
        if (areCurrent()) {
            return work.get();
        }
        FutureTask<T> task = new FutureTask<>(work::get);
        calls.acquireUninterruptibly();
        try {
            execute(task);
            return Uninterruptibles.get(task);
        } catch (ExecutionException failure) {
            ReflectionUtils.rethrowRuntimeException(Objects.requireNonNull(failure.getCause()));
            throw new IllegalStateException(failure);
        } finally {
            calls.release();
        }
    }

    /** Whether the current thread is one of these, or does its own database work. */
    public boolean areCurrent() {
        return own.get();
    }

    /** Runs work on the current thread, which meanwhile does its own database work. */
    void runAsOwn(Runnable work) {
        own.set(true);
        try {
            work.run();
        } finally {
            own.remove();
        }
    }
}
