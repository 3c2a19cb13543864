package io.dbsemaphore.boot.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What users of ShedLock rely on beside what its contract tests ask for. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SemaphoreLockIntegrationTests {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static LockProviderFixture instances;

    private final String name = "job " + UUID.randomUUID();

    @BeforeAll
    static void start() {
        instances = new LockProviderFixture();
    }

    @AfterAll
    static void close() {
        instances.close();
    }

    @Test
    void isHeldForItsTimeAtMost() {
        lock(instances.provider(), HOUR, Duration.ZERO);

        assertThat(instances.left(name)).isBetween(HOUR.minusSeconds(15), HOUR);
        assertThat(instances.otherProvider().lock(configuration(HOUR, Duration.ZERO)))
                .isEmpty();
    }

    @Test
    void staysLockedForItsTimeAtLeastAlthoughTheInstanceStops() {
        try (Node stopping = instances.node()) {
            lock(LockProviderFixture.provider(stopping), HOUR, Duration.ofMinutes(10))
                    .unlock();
        }

        assertThat(instances.left(name)).isBetween(Duration.ofMinutes(9), Duration.ofMinutes(10));
        assertThat(instances.provider().lock(configuration(HOUR, Duration.ZERO)))
                .isEmpty();
    }

    @Test
    void isNotLostWhenItsTimeAtLeastHasPassedAfterTheTask() {
        lock(instances.provider(), HOUR, Duration.ofSeconds(10)).unlock();
        String ended = instances.holders(name).get(0).externalId();
        Awaitility.await("the end of the rest")
                .atMost(Duration.ofSeconds(40))
                .until(() -> instances.holders(name).isEmpty());
        lock(instances.provider(), Duration.ofSeconds(10), Duration.ZERO);
        String overrun = instances.holders(name).get(0).externalId();

        Awaitility.await("the report of a task that takes too long")
                .atMost(Duration.ofSeconds(40))
                .until(() -> instances.lost().contains(overrun));

        assertThat(instances.lost()).doesNotContain(ended);
    }

    /** The task may not have ended when the instance stops. */
    @Test
    void staysLockedWhenTheInstanceStopsDuringTheTask() {
        try (Node stopping = instances.node()) {
            lock(LockProviderFixture.provider(stopping), HOUR, Duration.ZERO);
        }

        assertThat(instances.left(name)).isGreaterThan(Duration.ofMinutes(59));
    }

    @Test
    void awaitsARestThatNoPermitCanLast() {
        long begin = System.nanoTime();

        lock(instances.provider(), HOUR, Duration.ofMillis(700)).unlock();

        assertThat(Duration.ofNanos(System.nanoTime() - begin))
                .isBetween(Duration.ofMillis(690), Duration.ofSeconds(30));
        assertThat(instances.holders(name)).isEmpty();
    }

    /** Repeated if the minimum lock time had passed before the unlock. */
    @Test
    void leavesTheRestToTheTimeToLiveWhereItsThreadIsInterrupted() throws Exception {
        AtomicBoolean rest = new AtomicBoolean();
        boolean interrupted;
        do {
            Awaitility.await("the end of an attempt before")
                    .until(() -> instances.holders(name).isEmpty());
            long begin = System.nanoTime();
            SimpleLock lock = lock(instances.provider(), HOUR, Duration.ofMillis(900));
            interrupted = Concurrently.get(Concurrently.async(() -> {
                Thread.currentThread().interrupt();
                lock.unlock();
                rest.set(System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(900));
                return Thread.interrupted();
            }));
        } while (!rest.get());

        assertThat(interrupted).isEqualTo(true);
        assertThat(instances.unreleased(name)).isEqualTo(1);
        Awaitility.await("the end of the rest")
                .until(() -> instances.holders(name).isEmpty());
    }

    @Test
    void isExtendedBeyondAndBelowItsTime() {
        SimpleLock lock = lock(instances.provider(), Duration.ofMinutes(10), Duration.ZERO);

        SimpleLock extended = lock.extend(HOUR, Duration.ZERO).orElseThrow();
        assertThat(instances.left(name)).isGreaterThan(Duration.ofMinutes(59));
        SimpleLock shortened =
                extended.extend(Duration.ofMinutes(5), Duration.ZERO).orElseThrow();

        assertThat(instances.left(name)).isLessThanOrEqualTo(Duration.ofMinutes(5));
        assertThatIllegalStateException().isThrownBy(extended::unlock);
        shortened.unlock();
        assertThat(instances.holders(name)).isEmpty();
        assertThatIllegalStateException().isThrownBy(shortened::unlock);
    }

    @Test
    void leavesALockAloneThatAnotherInstanceTook() {
        SimpleLock unlocked = lock(instances.provider(), SECOND, Duration.ZERO);
        Awaitility.await("expiry").until(() -> instances.holders(name).isEmpty());
        SimpleLock taken = lock(instances.otherProvider(), HOUR, Duration.ZERO);

        unlocked.unlock();

        assertThat(instances.holders(name)).hasSize(1);
        taken.unlock();
    }

    @Test
    void cannotBeExtendedWhenAnOperatorHasReleasedIt() {
        SimpleLock lock = lock(instances.provider(), HOUR, HOUR);
        instances.releaseByForce(name);

        assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
        assertThat(instances.holders(name)).isEmpty();
        SimpleLock again = lock(instances.provider(), HOUR, HOUR);
        instances.releaseByForce(name);
        again.unlock();
        assertThat(instances.holders(name)).isEmpty();
    }

    @Test
    void namesMayBeAnyText() {
        List<String> names = List.of("x".repeat(500), "x".repeat(501), "a\nb", "a ", "a");

        List<SimpleLock> locks = names.stream()
                .map(each -> instances
                        .provider()
                        .lock(new LockConfiguration(ClockProvider.now(), each, HOUR, Duration.ZERO))
                        .orElseThrow())
                .toList();

        locks.forEach(SimpleLock::unlock);
    }

    /** ShedLock renews a lock at half of its time, which is 30 seconds at least; here the time runs faster. */
    @Test
    void isKeptAliveByShedLock() {
        Duration atMost = Duration.ofSeconds(30);
        ScheduledExecutorService fast = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long delay, long period, TimeUnit unit) {
                return super.scheduleAtFixedRate(task, delay / 20, period / 20, unit);
            }
        };
        try {
            SimpleLock lock = lock(new KeepAliveLockProvider(instances.provider(), fast), atMost, Duration.ZERO);
            var acquiredAt = instances.holders(name).get(0).acquiredAt();

            Awaitility.await("an extension")
                    .until(() -> instances
                            .holders(name)
                            .get(0)
                            .expiresAt()
                            .orElseThrow()
                            .isAfter(acquiredAt.plus(atMost).plusMillis(500)));

            lock.unlock();
            assertThat(instances.holders(name)).isEmpty();
        } finally {
            fast.shutdownNow();
        }
    }

    private SimpleLock lock(LockProvider provider, Duration atMost, Duration atLeast) {
        return provider.lock(configuration(atMost, atLeast)).orElseThrow();
    }

    private LockConfiguration configuration(Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
    }
}
