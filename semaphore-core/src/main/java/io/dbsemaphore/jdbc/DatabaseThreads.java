package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Chooses the thread on which the library uses the host's {@code DataSource}. A pool that takes part in global
 * transactions (JTA) returns the connection that is enlisted in the transaction of the calling thread, so that work of
 * the library would join the host's transaction, or end it. The calling thread is therefore used only if it has no
 * Spring transaction and the pool is {@linkplain PlainPools known} not to enlist connections. All other work runs on a
 * few threads of the library ({@code semaphore-database-N}) while the caller waits. Virtual threads are never used: an
 * interrupt closes the socket that a virtual thread is reading from.
 */
public final class DatabaseThreads {

    private static final String VIRTUAL_THREAD =
            "java.lang.VirtualThread"; // by name, since it does not exist before Java 21
    private static final Duration IDLE = Duration.ofSeconds(1);

    private final boolean plain;
    private final Executor threads;

    public DatabaseThreads(DataSource host, int max) {
        plain = PlainPools.contain(host);
        threads = new DaemonThreads().pool("semaphore-database", max, IDLE);
    }

    /**
     * Runs database work, on the calling thread or on a thread of the library. An interrupt does not abort it; the
     * interrupt flag is preserved.
     */
    public <T extends @Nullable Object> T call(Supplier<T> work) {
        return mayUseCaller() ? work.get() : callElsewhere(work);
    }

    /** Whether the calling thread may use the {@code DataSource}. */
    public boolean mayUseCaller() {
        return DaemonThreads.isCurrent()
                || (plain && !isInTransaction() && !isVirtual());
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
        try {
            return Uninterruptibles.get(task);
        } catch (ExecutionException failure) {
            throw unchecked(failure.getCause());
        }
    }

    private static RuntimeException unchecked(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception ? exception : new IllegalStateException(failure);
    }
}
