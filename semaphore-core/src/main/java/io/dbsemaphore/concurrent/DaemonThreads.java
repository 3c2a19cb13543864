package io.dbsemaphore.concurrent;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the threads of the library: daemon threads that inherit nothing from the thread that creates them. That
 * thread may belong to one tenant or one deployed application, and a thread of the library may outlive both. A new
 * thread therefore has none of its creator's {@link InheritableThreadLocal}s, nor its context class loader, access
 * control context or priority, and belongs to the root thread group.
 *
 * <p>The system may temporarily be unable to create threads ({@code OutOfMemoryError: unable to create native thread}).
 * Between {@link #open} and {@link #close}, threads that cannot be {@linkplain #start started} are started as soon as
 * that is possible.
 */
public class DaemonThreads implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(DaemonThreads.class);

    private volatile @Nullable PendingThreadStarts lateStarts;

    /**
     * Begins to start threads later if they cannot be started at once.
     *
     * @throws OutOfMemoryError if the system has no thread for that
     */
    public final void open() {
        PendingThreadStarts opened = new PendingThreadStarts();
        create("semaphore-late-starts", opened::run).start();
        lateStarts = opened;
    }

    /**
     * Starts a thread; if the system has none, as soon as it has one.
     *
     * @return whether the thread was started at once
     * @throws Error if it cannot be started, neither now nor later
     */
    public final boolean start(String name, Runnable task) {
        try {
            create(name, task).start();
            return true;
        } catch (Throwable noThread) {
            PendingThreadStarts later = lateStarts;
            if (later == null || !later.add(() -> create(name, task))) {
                throw noThread;
            }
            warn(name, noThread);
            return false;
        }
    }

    private static void warn(String name, Throwable noThread) {
        try {
            log.warn(
                    "Thread {} cannot be started at the moment; it will be started as soon as that is possible",
                    name,
                    noThread);
        } catch (Throwable ignored) {
            // out of memory, too
        }
    }

    /** Ends the late starts. Running threads are not affected. */
    @Override
    public final void close() {
        PendingThreadStarts closed = lateStarts;
        if (closed != null) {
            closed.close();
        }
    }

    /** Creates a thread, which the caller has to start. */
    @SuppressWarnings("ThreadPriorityCheck") // normal priority, instead of that of the caller
    public Thread create(String name, Runnable task) {
        Thread thread = withoutCallers(name, task);
        thread.setDaemon(true);
        thread.setPriority(Thread.NORM_PRIORITY);
        thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
        return thread;
    }

    /** A factory of threads that all have the same name, for executors with one thread. */
    public final ThreadFactory named(String name) {
        return task -> create(name, task);
    }

    /** A factory of threads whose names are the given one, a hyphen and a number, starting with 1. */
    public final ThreadFactory numbered(String name) {
        AtomicInteger created = new AtomicInteger();
        return task -> create(name + "-" + created.incrementAndGet(), task);
    }

    /** An executor with at most this number of threads, which end when idle. More tasks than that wait for a thread. */
    public final ThreadPoolExecutor pool(String name, int max, Duration idle) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                max,
                max,
                idle.toMillis(),
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                max == 1 ? named(name) : numbered(name));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** An executor with one thread, for delayed and periodic tasks. */
    public final ScheduledThreadPoolExecutor scheduler(String name) {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, named(name));
        scheduler.setRemoveOnCancelPolicy(true);
        return scheduler;
    }

    /**
     * Privileged, since the access control context of a thread refers to the class loaders of all classes on the stack.
     */
    @SuppressWarnings("removal") // required before Java 24; since then it only runs the action
    private static Thread withoutCallers(String name, Runnable task) {
        PrivilegedAction<Thread> creation = () -> new LibraryThread(topmostGroup(), task, name);
        return AccessController.doPrivileged(creation);
    }

    public static boolean isCurrent() {
        return Thread.currentThread() instanceof LibraryThread;
    }

    private static final class LibraryThread extends Thread {

        LibraryThread(ThreadGroup group, Runnable task, String name) {
            super(group, task, name, 0, false);
        }
    }

    private static ThreadGroup topmostGroup() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        return group;
    }
}
