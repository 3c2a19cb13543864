package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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
        new Thread(made, "first caller").start();

        Thread thread = made.get();

        assertThat(tenant.get()).as("inheritable thread-local").isNull();
        assertThat(thread.getContextClassLoader()).isSameAs(DaemonThreads.class.getClassLoader());
        assertThat(thread.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
        assertThat(thread.isDaemon()).as("daemon").isEqualTo(true);
    }

    @Test
    void areNumberedFromOne() {
        var factory = threads.numbered("worker");

        assertThat(factory.newThread(() -> {}).getName()).isEqualTo("worker-1");
        assertThat(factory.newThread(() -> {}).getName()).isEqualTo("worker-2");
    }

    /** Otherwise a completion would be lost, and with it the release of what its acquire holds. */
    @Test
    void aTaskForWhichTheSystemHasNoThreadRunsOnTheThreadThatSubmitsIt() throws Exception {
        AtomicInteger left = new AtomicInteger(1);
        ThreadPoolExecutor pool = new DaemonThreads() {
            @Override
            public Thread create(String name, Runnable task) {
                if (left.getAndDecrement() > 0) {
                    return super.create(name, task);
                }
                // Not an overridden Thread.start(): the pools of newer JDKs do not call it
                throw new OutOfMemoryError("unable to create native thread, as expected by this test");
            }
        }.cachedPool("worker", Duration.ofSeconds(1));
        CountDownLatch goOn = new CountDownLatch(1);
        Future<?> blocked = pool.submit(() -> goOn.await(20, TimeUnit.SECONDS));
        AtomicReference<Thread> ranOn = new AtomicReference<>();

        pool.execute(() -> ranOn.set(Thread.currentThread()));

        assertThat(ranOn.get()).isSameAs(Thread.currentThread());
        goOn.countDown();
        assertThat(blocked.get(20, TimeUnit.SECONDS)).isEqualTo(true);
        pool.shutdown();
    }
}
