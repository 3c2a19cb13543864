package io.dbsemaphore.concurrent;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the threads of the library: daemons, which inherit nothing from the thread that happens to need them first. That
 * thread may belong to one tenant or to one deployed application, and a thread of the library may outlive both. So a new
 * thread has none of its creator's {@link InheritableThreadLocal}s, neither its context class loader nor its access control
 * context nor its priority, and belongs to the topmost thread group.
 *
 * <p>A system may have no thread for a while ({@code OutOfMemoryError: unable to create native thread}). Between {@link #open}
 * and {@link #close}, what is {@linkplain #start started} during such a time begins when it is over.
 */
public class DaemonThreads implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(DaemonThreads.class);

    private volatile @Nullable PendingThreadStarts lateStarts;

    /**
     * Begins to start later what cannot be started at once.
     *
     * @throws OutOfMemoryError when the system has no thread for that
     */
    public final void open() {
        PendingThreadStarts opened = new PendingThreadStarts();
        create("semaphore-late-starts", opened::run).start();
        lateStarts = opened;
    }

    /**
     * Starts a thread; where the system has none, as soon as it has.
     *
     * @return whether it was started at once
     * @throws Error when it cannot be started, neither now nor later
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
                    "The thread {} cannot be started for the moment; it is started as soon as it can be",
                    name,
                    noThread);
        } catch (Throwable notEvenThat) {
            // short of memory, too
        }
    }

    /** Ends the late starts. Threads that run go on. */
    @Override
    public final void close() {
        PendingThreadStarts closed = lateStarts;
        if (closed != null) {
            closed.close();
        }
    }

    /** Makes a thread, which the caller is to start. */
    public Thread create(String name, Runnable task) {
        Thread thread = withoutCallers(name, task);
        thread.setDaemon(true);
        thread.setPriority(Thread.NORM_PRIORITY);
        thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
        return thread;
    }

    /** A factory of threads that all have this name: for executors of one thread. */
    public final ThreadFactory named(String name) {
        return task -> create(name, task);
    }

    /** A factory of threads that have this name, a hyphen and a number, from 1. */
    public final ThreadFactory numbered(String name) {
        AtomicInteger created = new AtomicInteger();
        return task -> create(name + "-" + created.incrementAndGet(), task);
    }

    /** Privileged, since a thread's access control context refers to the class loaders of all that are on the stack. */
    @SuppressWarnings("removal") // there is no other way before Java 24, from which on it only runs the action
    private static Thread withoutCallers(String name, Runnable task) {
        PrivilegedAction<Thread> creation = () -> new LibraryThread(topmostGroup(), task, name);
        return AccessController.doPrivileged(creation);
    }

    /** Whether the calling thread is one of the library. */
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
