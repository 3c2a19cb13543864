package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/**
 * Uses the host's {@code DataSource} for callers: on a few threads of the library ({@code semaphore-database-N}), never on the
 * caller's own. The caller may be in a global transaction (JTA), in which a pool returns the connection that is enlisted on its
 * thread; it may be a virtual thread, whose socket an interrupt closes; a {@code DataSource} may choose a database by thread. None
 * of this matters on a thread that belongs to nobody else.
 */
public final class DatabaseThreads implements Executor {

    private static final Duration IDLE = Duration.ofSeconds(1);

    private final Executor threads;

    public DatabaseThreads(int max) {
        threads = new DaemonThreads().pool("semaphore-database", max, IDLE);
    }

    /** Does database work that nobody waits for on one of the threads. It must not throw. */
    @Override
    public void execute(Runnable work) {
        threads.execute(work);
    }

    /**
     * Does database work on a thread of the library, and waits for it; a thread of the library does it itself. An interrupt does
     * not end it; the flag is kept.
     */
    public <T extends @Nullable Object> T call(Supplier<T> work) {
        if (DaemonThreads.isCurrent()) {
            return work.get();
        }
        FutureTask<T> task = new FutureTask<>(work::get);
        threads.execute(task);
        try {
            return Uninterruptibles.get(task);
        } catch (ExecutionException failure) {
            ReflectionUtils.rethrowRuntimeException(Objects.requireNonNull(failure.getCause()));
            throw new IllegalStateException(failure);
        }
    }
}
