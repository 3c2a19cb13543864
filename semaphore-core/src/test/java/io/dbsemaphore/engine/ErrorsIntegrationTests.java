package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Errors, such as of a listener that does not link or of a driver that runs out of stack, come from everywhere while many
 * acquire: each caller has its answer in time, and afterwards nothing is held and all works as before.
 */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ErrorsIntegrationTests {

    private static final int CALLERS = 16;
    private static final Duration DURATION = Duration.ofSeconds(Long.getLong("semaphore.test.seconds", 20));
    private static final Duration WAIT = Duration.ofMillis(500);
    private static final Duration REUSE = Duration.ofMillis(200);
    /** How long an idle permit, which is kept alive by a connection, may stay. */
    private static final Duration IDLE = REUSE.multipliedBy(100);

    private static final Duration TTL = Duration.ofSeconds(4);
    /** What an answer may take beyond the wait time: a release that is tried again, on a loaded machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(8);

    private final long seed = Long.getLong("semaphore.test.seed", System.nanoTime());
    private final RandomErrors errors = new RandomErrors(seed);
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong longest = new AtomicLong();

    @Measured
    @Test
    void leaveNothingHeldAndNoCallerWithoutAnswer() {
        try (TestDatabase.Schema schema = TestDatabase.create().migrate();
                HikariDataSource pool = pool(schema);
                SemaphoreEngine engine = new SemaphoreEngine(
                        errors.around(pool),
                        TestSettings.defaults()
                                .with(
                                        SemaphoreSettings.REUSE,
                                        PerSemaphore.all(Duration.ZERO).with("c", REUSE)),
                        () -> List.of(errors.listener()),
                        List::of)) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            List<String> names = List.of("a", "b", "c");
            names.forEach(name -> engine.admin().create(name, 3));

            done.set(0);
            failed.set(0);
            longest.set(0);
            int before = errors.thrown();
            errors.on();
            long end = System.nanoTime() + DURATION.toNanos();
            Concurrently.run(CALLERS, DURATION.plusSeconds(40), index -> {
                Random random = new Random(seed + index);
                while (System.nanoTime() - end < 0) {
                    call(semaphores, names, random);
                }
            });
            errors.off();

            String seen = "seed %d: %d done, %d failed, %d errors, longest %d ms"
                    .formatted(seed, done.get(), failed.get(), errors.thrown(), longest.get() / 1_000_000);
            assertThat(errors.thrown() - before).as(seen).isGreaterThan(20);
            assertThat(done.get()).as(seen).isGreaterThan(CALLERS);
            names.forEach(name -> semaphores.execute(
                    AcquireRequest.of(name).exclusive().withWaitTime(TTL.plus(PATIENCE)),
                    grant -> assertThat(grant.isHeld()).as(seen).isEqualTo(true)));
            Awaitility.await(seen)
                    .atMost(IDLE.plus(PATIENCE))
                    .untilAsserted(() -> assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                            .as(seen)
                            .isZero());
            System.getLogger("errors").log(System.Logger.Level.INFO, seen);
            Measurement.check(
                    () -> assertThat(Duration.ofNanos(longest.get())).as(seen).isLessThan(WAIT.plus(PATIENCE)));
        }
    }

    private void call(SemaphoreTemplate semaphores, List<String> names, Random random) {
        String first = names.get(random.nextInt(names.size()));
        AcquireRequest request = random.nextInt(4) == 0
                ? AcquireRequest.of(first, names.get((names.indexOf(first) + 1) % names.size()))
                : AcquireRequest.of(first);
        AcquireRequest waiting = random.nextBoolean() ? request.withWaitTime(WAIT) : request;
        long begin = System.nanoTime();
        try {
            semaphores.execute(waiting.withTtl(TTL), grant -> "");
            done.incrementAndGet();
        } catch (RuntimeException | Error failure) {
            failed.incrementAndGet();
        }
        longest.accumulateAndGet(System.nanoTime() - begin, Math::max);
    }

    private static HikariDataSource pool(TestDatabase.Schema schema) {
        return new HikariDataSource(schema.poolConfig(10, schema.jdbcUrl()));
    }
}
