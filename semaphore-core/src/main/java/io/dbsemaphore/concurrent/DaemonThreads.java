package io.dbsemaphore.concurrent;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Creates the threads of the library: daemon threads that inherit nothing from the thread that creates them. That
 * thread may belong to one tenant or one deployed application, and a thread of the library may outlive both. A new
 * thread therefore has none of its creator's {@link InheritableThreadLocal}s, nor its context class loader, access
 * control context or priority.
 */
public class DaemonThreads {

    /** Creates a thread, which the caller has to start. */
    @SuppressWarnings("ThreadPriorityCheck") // normal priority, instead of that of the caller
    public Thread create(String name, Runnable task) {
        Thread thread = withoutCallers(name, task);
        thread.setDaemon(true);
        thread.setPriority(Thread.NORM_PRIORITY);
        thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
        return thread;
    }

    /** A factory of threads named by the given name, a hyphen and a number, starting with 1. */
    public final ThreadFactory numbered(String name) {
        AtomicInteger created = new AtomicInteger();
        return task -> create(name + "-" + created.incrementAndGet(), task);
    }

    /**
     * An executor for code that may block. No task waits for a thread. One thread never ends; further ones end after this time without a
     * task. After a shutdown, or while the system has no more threads, a task runs on the thread that submits it.
     */
    public final ThreadPoolExecutor cachedPool(String name, Duration idle) {
        return new ThreadPoolExecutor(
                1,
                Integer.MAX_VALUE,
                idle.toMillis(),
                TimeUnit.MILLISECONDS,
                new SynchronousQueue<>(),
                numbered(name),
                (task, ended) -> task.run()) {

            @Override
            public void execute(Runnable task) {
                try {
                    super.execute(task);
                } catch (OutOfMemoryError noThread) {
                    task.run();
                }
            }
        };
    }

    /** Returns an executor with one thread, for delayed and periodic tasks. */
    public final ScheduledThreadPoolExecutor scheduler(String name) {
        return scheduler(name, Runnable::run);
    }

    /**
     * An executor with one thread, for delayed and periodic tasks.
     *
     * @param context runs everything that the thread does
     */
    public final ScheduledThreadPoolExecutor scheduler(String name, Consumer<Runnable> context) {
        ScheduledThreadPoolExecutor scheduler =
                new ScheduledThreadPoolExecutor(1, task -> create(name, () -> context.accept(task)));
        scheduler.setRemoveOnCancelPolicy(true);
        return scheduler;
    }

    /**
     * Privileged: otherwise the access control context of the thread would refer to the class loaders of all classes on the stack.
     */
    @SuppressWarnings("removal") // required before Java 24; since then it only runs the action
    private static Thread withoutCallers(String name, Runnable task) {
        PrivilegedAction<Thread> creation = () -> new Thread(null, task, name, 0, false);
        return AccessController.doPrivileged(creation);
    }
}
