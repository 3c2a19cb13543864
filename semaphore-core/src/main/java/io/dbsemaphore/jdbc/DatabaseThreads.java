package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Decides on which thread the library uses the host's {@code DataSource}. A pool that takes part in global transactions
 * (JTA) gives the connection that is enlisted in the transaction of a thread to everything that asks on this thread: what
 * the library does there would become part of the host's transaction, or end it. So the calling thread is used only where
 * it has no transaction of Spring's and the pool is {@linkplain PlainPools known to be plain}. Everything else runs on a
 * few threads of the library, and the caller waits for it. Virtual threads are never used: an interrupt closes the socket
 * that one of them reads from.
 */
public final class DatabaseThreads {

    private static final String VIRTUAL_THREAD = "java.lang.VirtualThread"; // has no other name before Java 21
    private static final long IDLE_SECONDS = 1;

    private final boolean plain;
    private final ThreadPoolExecutor threads;

    /**
     * Decides for one pool.
     *
     * @param max how many threads of the library there may be
     */
    public DatabaseThreads(DataSource host, int max) {
        plain = PlainPools.contain(host);
        threads = new ThreadPoolExecutor(
                max,
                max,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                new DaemonThreads().numbered("semaphore-database"));
        threads.allowCoreThreadTimeOut(true);
    }

    /** Does database work: here, or on a thread of the library. An interrupt does not end it; the flag is kept. */
    public <T extends @Nullable Object> T call(Supplier<T> work) {
        return mayUseCaller() ? work.get() : callElsewhere(work);
    }

    /** Whether the calling thread may use the {@code DataSource}. */
    public boolean mayUseCaller() {
        return DaemonThreads.isCurrent() || (plain && !isInTransaction() && !isVirtual());
    }

    private static boolean isInTransaction() {
        return TransactionSynchronizationManager.isSynchronizationActive()
                || TransactionSynchronizationManager.isActualTransactionActive();
    }

    private static boolean isVirtual() {
        return Thread.currentThread().getClass().getName().equals(VIRTUAL_THREAD);
    }

    /** Does database work on a thread of the library, and waits for it. An interrupt does not end it; the flag is kept. */
    public <T extends @Nullable Object> T callElsewhere(Supplier<T> work) {
        FutureTask<T> task = new FutureTask<>(work::get);
        threads.execute(task);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException later) {
                    interrupted = true;
                } catch (ExecutionException failure) {
                    throw unchecked(failure.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static RuntimeException unchecked(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception ? exception : new IllegalStateException(failure);
    }
}
