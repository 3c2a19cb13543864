package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.config.SemaphorePatterns;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Readings are scheduled once, even where the system has no thread for them at first. */
class PermitSnapshotsTests {

    private static final Duration INTERVAL = Duration.ofHours(1);

    private final AtomicInteger readings = new AtomicInteger();
    private final AtomicReference<Reading> duringAReading = new AtomicReference<>(() -> {});
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final PermitSnapshots snapshots = new PermitSnapshots(admin(), names(), INTERVAL, threads());

    private interface Reading {

        void call() throws InterruptedException;
    }

    @BeforeEach
    void start() {
        snapshots.start();
    }

    @AfterEach
    void stop() {
        snapshots.stop();
    }

    @Test
    void areReadOncePerInterval() {
        Awaitility.await("a reading").until(() -> held() == 2);

        assertThat(readings).hasValue(1);
    }

    /** A thread of an application that has no scraper has nothing to do. */
    @Test
    void areNotReadUntilAGaugeIsAsked() throws InterruptedException {
        PermitSnapshots unasked = new PermitSnapshots(admin(), names(), Duration.ofMillis(10), threads());
        unasked.start();
        try {
            Thread.sleep(200);

            assertThat(readings).hasValue(0);
        } finally {
            unasked.stop();
        }
    }

    @Test
    void areNotReadWhileStopped() {
        Awaitility.await("a reading").until(() -> held() == 2);

        snapshots.stop();
        awaitNoThread();
        assertThat(held()).as("the last reading").isEqualTo(2);
        snapshots.start();

        Awaitility.await("another reading").until(() -> held() == 2 && readings.get() == 2);
        assertThat(threads).as("one thread for each run").hasSize(2);
    }

    /** A database that hangs must not keep the application from being stopped. */
    @Test
    void endAlthoughAReadingHangs() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        duringAReading.set(() -> {
            hangs.countDown();
            never.await();
        });
        assertThat(held()).isNaN();
        hangs.await();

        snapshots.stop();

        awaitNoThread();
    }

    /** An executor has terminated shortly before its last thread has. */
    private void awaitNoThread() {
        Awaitility.await("the end of the thread").until(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    private double held() {
        return snapshots.sum("orders", SemaphoreStatus::held);
    }

    private static ConfiguredNames names() {
        return new ConfiguredNames(Set.of("orders"), SemaphorePatterns.NONE);
    }

    /** Answers that 2 of 3 are held. */
    private SemaphoreAdmin admin() {
        return (SemaphoreAdmin) Proxy.newProxyInstance(
                SemaphoreAdmin.class.getClassLoader(), new Class<?>[] {SemaphoreAdmin.class}, (proxy, method, args) -> {
                    readings.incrementAndGet();
                    duringAReading.get().call();
                    return List.of(new SemaphoreStatus("orders", 3, 2, 1, 2));
                });
    }

    private ThreadFactory threads() {
        return task -> {
            Thread thread = new Thread(task, "readings");
            threads.add(thread);
            return thread;
        };
    }
}
