package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.config.SemaphorePatterns;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The status is read at an interval while somebody asks for it. */
class PermitSnapshotsTests {

    private static final Duration INTERVAL = Duration.ofHours(1);

    private final AtomicInteger readings = new AtomicInteger();
    private final AtomicReference<Reading> duringAReading = new AtomicReference<>(() -> {});
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
    private final PermitSnapshots snapshots = snapshots(INTERVAL);

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
        threads.shutdownNow();
    }

    @Test
    void areReadOncePerInterval() {
        Awaitility.await("a reading").until(() -> held() == 2);

        assertThat(readings).hasValue(1);
    }

    /** A thread of an application that has no scraper has nothing to do. */
    @Test
    void areNotReadUntilAGaugeIsAsked() throws InterruptedException {
        PermitSnapshots unasked = snapshots(Duration.ofMillis(10));
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
        assertThat(held()).as("the last reading").isEqualTo(2);
        assertThat(readings).as("readings").hasValue(1);
        snapshots.start();

        Awaitility.await("another reading").until(() -> held() == 2 && readings.get() == 2);
    }

    /** The engine may be stopped and started without the application context, as by a parent context. */
    @Test
    void areReadAgainAfterTheTimerHasEndedAndBegunAnew() {
        AtomicReference<ScheduledExecutorService> timer = new AtomicReference<>(Executors.newScheduledThreadPool(1));
        PermitSnapshots restarted = new PermitSnapshots(
                admin(),
                names(),
                Duration.ofMillis(50),
                threads,
                (each, task) ->
                        timer.get().scheduleWithFixedDelay(task, each.toNanos(), each.toNanos(), TimeUnit.NANOSECONDS));
        restarted.start();
        Awaitility.await("a reading").until(() -> restarted.sum("orders", SemaphoreStatus::held) == 2);

        timer.get().shutdown();
        Awaitility.await("no further reading")
                .until(() -> Double.isNaN(restarted.sum("orders", SemaphoreStatus::held)));
        timer.set(threads);

        Awaitility.await("a reading").until(() -> restarted.sum("orders", SemaphoreStatus::held) == 2);
        restarted.stop();
    }

    @Test
    void areBegunAnewOnceWhereSeveralGaugesFindThatTheTimerHasEnded() {
        AtomicInteger begun = new AtomicInteger();
        AtomicReference<PermitSnapshots> self = new AtomicReference<>();
        PermitSnapshots restarted =
                new PermitSnapshots(admin(), names(), Duration.ofMinutes(1), threads, (each, task) -> {
                    if (begun.incrementAndGet() == 1) {
                        return CompletableFuture.completedFuture("ended");
                    }
                    if (begun.get() == 2) { // another gauge is read meanwhile
                        Thread other = new Thread(() -> self.get().sum("orders", SemaphoreStatus::held));
                        other.start();
                        Awaitility.await("the other gauge")
                                .until(() -> other.getState() == Thread.State.BLOCKED || !other.isAlive());
                    }
                    return new CompletableFuture<>();
                });
        self.set(restarted);
        restarted.start();

        assertThat(restarted.sum("orders", SemaphoreStatus::held)).isNaN();
        restarted.stop();

        Awaitility.await("the other gauge").during(Duration.ofMillis(200)).until(() -> begun.get() == 2);
        assertThat(restarted.isRunning()).isFalse();
    }

    @Test
    void areNotReadAtTheIntervalWhileStopped() throws InterruptedException {
        PermitSnapshots often = snapshots(Duration.ofMillis(10));
        often.start();
        Awaitility.await("readings").until(() -> often.sum("orders", SemaphoreStatus::held) == 2 && readings.get() > 2);

        often.stop();
        Awaitility.await("the end of a reading under way").until(() -> {
            int before = readings.get();
            Thread.sleep(100);
            return readings.get() == before;
        });
    }

    /** A database that hangs must not keep the application from being stopped. */
    @Test
    void aStopDoesNotWaitForAReadingThatHangs() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        duringAReading.set(() -> {
            hangs.countDown();
            never.await();
        });
        assertThat(held()).isNaN();
        hangs.await();

        snapshots.stop();

        assertThat(snapshots.isRunning()).isFalse();
        assertThat(held()).isNaN();
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

    private PermitSnapshots snapshots(Duration interval) {
        return new PermitSnapshots(
                admin(),
                names(),
                interval,
                threads,
                (each, task) ->
                        threads.scheduleWithFixedDelay(task, each.toNanos(), each.toNanos(), TimeUnit.NANOSECONDS));
    }
}
