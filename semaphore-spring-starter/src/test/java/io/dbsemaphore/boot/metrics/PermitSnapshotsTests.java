package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.config.SemaphoreSettings;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The status is read at an interval while somebody asks for it. */
class PermitSnapshotsTests {

    private static final Duration INTERVAL = Duration.ofHours(1);

    private final AtomicInteger readings = new AtomicInteger();
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
    private final AtomicLong later = new AtomicLong();
    private final PermitSnapshots snapshots = snapshots(INTERVAL);

    @AfterEach
    void close() {
        threads.shutdownNow();
    }

    @Test
    void areReadOncePerInterval() {
        Awaitility.await("a reading").until(() -> held() == 2);

        assertThat(readings).hasValue(1);
    }

    /** A thread of an application that has no scraper has nothing to do. */
    @Test
    void areNotReadUntilAGaugeIsAsked() {
        AtomicInteger begun = new AtomicInteger();
        PermitSnapshots unasked = snapshots((each, task) -> {
            begun.incrementAndGet();
            return new CompletableFuture<>();
        });
        assertThat(begun).hasValue(0);

        assertThat(unasked.sum("orders", SemaphoreStatus::held)).isNaN();

        assertThat(begun).hasValue(1);
    }

    @Test
    void endWhenNoGaugeHasBeenAskedForTwoMinutesAndBeginAnewWithTheNext() {
        AtomicReference<Runnable> reading = new AtomicReference<>();
        AtomicReference<Future<?>> begun = new AtomicReference<>();
        PermitSnapshots idle = snapshots((each, task) -> {
            reading.set(task);
            return begun.updateAndGet(ended -> new CompletableFuture<>());
        });
        assertThat(idle.sum("orders", SemaphoreStatus::held)).isNaN();
        reading.get().run();
        assertThat(idle.sum("orders", SemaphoreStatus::held)).isEqualTo(2);
        Future<?> first = begun.get();

        later.set(Duration.ofSeconds(110).toNanos());
        reading.get().run();
        assertThat(readings).hasValue(2);
        assertThat(first.isDone()).isFalse();

        later.set(Duration.ofSeconds(130).toNanos());
        reading.get().run();
        assertThat(readings).hasValue(2);
        assertThat(first.isDone()).isTrue();

        assertThat(idle.sum("orders", SemaphoreStatus::held)).isEqualTo(2);
        assertThat(begun.get()).isNotSameAs(first);
        reading.get().run();
        assertThat(readings).hasValue(3);
    }

    /** As an engine that has not started yet, or is closed. */
    @Test
    void areNotANumberWhileTheTimerTakesNoTask() {
        AtomicBoolean takesTasks = new AtomicBoolean();
        PermitSnapshots early = snapshots((each, task) -> {
            if (!takesTasks.get()) {
                throw new RejectedExecutionException("not started");
            }
            return threads.scheduleWithFixedDelay(task, 0, 10, TimeUnit.MILLISECONDS);
        });
        assertThat(early.sum("orders", SemaphoreStatus::held)).isNaN();
        takesTasks.set(true);

        Awaitility.await("a reading").until(() -> early.sum("orders", SemaphoreStatus::held) == 2);
    }

    /** The engine may be stopped and started without the application context, as by a parent context. */
    @Test
    void areReadAgainAfterTheTimerHasEndedAndBegunAnew() {
        AtomicReference<ScheduledExecutorService> timer = new AtomicReference<>(Executors.newScheduledThreadPool(1));
        PermitSnapshots restarted = new PermitSnapshots(
                admin(),
                names(),
                Duration.ofMillis(50),
                (each, task) -> timer.get().scheduleWithFixedDelay(task, 0, each.toNanos(), TimeUnit.NANOSECONDS),
                this::now,
                () -> 0);
        Awaitility.await("a reading").until(() -> restarted.sum("orders", SemaphoreStatus::held) == 2);

        timer.get().shutdown();
        Awaitility.await("no further reading")
                .until(() -> Double.isNaN(restarted.sum("orders", SemaphoreStatus::held)));
        timer.set(threads);

        Awaitility.await("a reading").until(() -> restarted.sum("orders", SemaphoreStatus::held) == 2);
    }

    @Test
    void areBegunAnewOnceWhereSeveralGaugesFindThatTheTimerHasEnded() {
        AtomicInteger begun = new AtomicInteger();
        AtomicReference<PermitSnapshots> self = new AtomicReference<>();
        PermitSnapshots restarted = snapshots((each, task) -> {
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
        assertThat(restarted.sum("orders", SemaphoreStatus::held)).isNaN();

        assertThat(restarted.sum("orders", SemaphoreStatus::held)).isNaN();

        Awaitility.await("the other gauge").during(Duration.ofMillis(200)).until(() -> begun.get() == 2);
    }

    private double held() {
        return snapshots.sum("orders", SemaphoreStatus::held);
    }

    private static ConfiguredNames names() {
        return new ConfiguredNames(Set.of("orders"), SemaphoreSettings.defaults());
    }

    /** Answers that 2 of 3 are held. */
    private SemaphoreAdmin admin() {
        return (SemaphoreAdmin) Proxy.newProxyInstance(
                SemaphoreAdmin.class.getClassLoader(), new Class<?>[] {SemaphoreAdmin.class}, (proxy, method, args) -> {
                    readings.incrementAndGet();
                    return List.of(new SemaphoreStatus("orders", 3, 2, 1, 2));
                });
    }

    private PermitSnapshots snapshots(Duration interval) {
        return new PermitSnapshots(
                admin(),
                names(),
                interval,
                (each, task) -> threads.scheduleWithFixedDelay(task, 0, each.toNanos(), TimeUnit.NANOSECONDS),
                this::now,
                () -> 0);
    }

    private PermitSnapshots snapshots(BiFunction<Duration, Runnable, Future<?>> timer) {
        return new PermitSnapshots(admin(), names(), Duration.ofMinutes(1), timer, this::now, () -> 0);
    }

    private long now() {
        return System.nanoTime() + later.get();
    }
}
