package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a thread of the library has of the thread that made it: nothing. */
class DaemonThreadsTests {

    private static final InheritableThreadLocal<@Nullable String> TENANT = new InheritableThreadLocal<>();

    private final DaemonThreads threads = new DaemonThreads();

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // of the caller, not to be inherited
    void inheritNothing() throws Exception {
        FutureTask<@Nullable String> tenant = new FutureTask<>(TENANT::get);
        FutureTask<Thread> made = new FutureTask<>(() -> {
            TENANT.set("first caller");
            Thread.currentThread().setPriority(Thread.MAX_PRIORITY);
            Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[0]));
            Thread thread = threads.create("of the library", tenant);
            thread.start();
            return thread;
        });
        new Thread(new ThreadGroup("of an application"), made, "first caller").start();

        Thread thread = made.get();

        assertThat(tenant.get()).as("inheritable thread-local").isNull();
        assertThat(thread.getContextClassLoader()).isSameAs(DaemonThreads.class.getClassLoader());
        assertThat(thread.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
        assertThat(thread.isDaemon()).as("daemon").isEqualTo(true);
    }

    @Test
    void belongToTheTopmostGroup() throws Exception {
        FutureTask<ThreadGroup> group = new FutureTask<>(
                () -> threads.create("of the library", () -> {}).getThreadGroup());
        new Thread(new ThreadGroup("of an application"), group, "first caller").start();

        assertThat(group.get().getParent()).isNull();
    }

    @Test
    void areNumberedFromOne() {
        var factory = threads.numbered("worker");

        assertThat(factory.newThread(() -> {}).getName()).isEqualTo("worker-1");
        assertThat(factory.newThread(() -> {}).getName()).isEqualTo("worker-2");
    }
}
