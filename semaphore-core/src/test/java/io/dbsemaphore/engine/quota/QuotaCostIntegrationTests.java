package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What an instance costs the database while its callers use permits at full speed. On a machine without CPU to spare, permits are confirmed
 * too late, and go back: {@code .ci/run} measures while it runs nothing else.
 */
@Slow
@Tag("alone")
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QuotaCostIntegrationTests extends ReuseFixture {

    private static final Duration R = Duration.ofMillis(250);
    private static final Duration TIME = Duration.ofSeconds(280);
    private static final Duration WARM_UP = Duration.ofSeconds(5);
    private static final Duration MEASURED = Duration.ofSeconds(3);

    private final AtomicBoolean stop = new AtomicBoolean();

    @AfterEach
    void stopCallers() {
        stop.set(true);
    }

    /** The number of uses makes no difference: one thread pauses after each, several do not. */
    @Measured
    @ParameterizedTest
    @CsvSource({"1, 500", "8, 0"})
    void aThousandPermitsInUseAreConfirmedByTwentyStatementsASecond(int threads, int pauseMicros, TestReporter reporter)
            throws Exception {
        stop.set(false);
        List<String> names = cluster.semaphores(1_000, 64);
        Node one = node(R);
        LongAdder uses = new LongAdder();
        Concurrently.run(
                100,
                TIME,
                thread -> names.stream()
                        .skip(thread * 10L)
                        .limit(10)
                        .forEach(each -> one.semaphores()
                                .acquire(request(each).withWaitTime(SOON))
                                .release()));
        Future<Boolean> busy = async(threads, thread -> {
            for (String each : names) {
                one.semaphores().acquire(request(each).withWaitTime(SOON)).release();
                uses.increment();
                if (pauseMicros > 0) {
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(pauseMicros));
                }
            }
        });
        LockSupport.parkNanos(WARM_UP.toNanos());

        Cost cost = Cost.of(one, uses);

        stop.set(true);
        assertThat(Concurrently.get(busy)).isTrue();
        cost.publish(reporter);
        Measurement.check(() -> assertThat(cost.confirmations())
                .as("confirmations a second: %s", cost)
                .isBetween(1.0, 20.0));
    }

    /**
     * All statements of the instance, with commits and heartbeats. Four threads hold the permits, and in turn release each one and
     * acquire it again: up to two thousand times a second, or twenty times as often. A permit that was confirmed too late goes back, and is
     * granted again by ten statements.
     */
    @Measured
    @ParameterizedTest
    @CsvSource({"1, 2000", "1, 20", "1000, 20"})
    void aThousandPermitsInUseCostTwentyStatementsASecond(int semaphores, int pauseMicros, TestReporter reporter)
            throws Exception {
        stop.set(false);
        int permits = 1_000;
        List<String> names = cluster.semaphores(semaphores, permits / semaphores);
        Node one = node(R);
        LongAdder uses = new LongAdder();
        Queue<PermitGrant> held = new ConcurrentLinkedQueue<>();
        Future<Boolean> busy = async(4, thread -> {
            PermitGrant grant = held.poll();
            if (grant != null) {
                String of = grant.permits().keySet().iterator().next();
                grant.release();
                held.add(one.semaphores().acquire(request(of).withWaitTime(SOON)));
                uses.increment();
                one.events().clear(); // two of each use, which would fill the memory
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(pauseMicros));
        });
        Concurrently.run(100, TIME, thread -> {
            for (int permit = thread; permit < permits; permit += 100) {
                held.add(one.semaphores()
                        .acquire(request(names.get(permit % semaphores)).withWaitTime(SOON)));
            }
        });
        LockSupport.parkNanos(WARM_UP.toNanos());

        Cost cost = Cost.of(one, uses);

        stop.set(true);
        assertThat(Concurrently.get(busy)).isTrue();
        cost.publish(reporter);
        assertThat(held).hasSize(permits);
        held.forEach(PermitGrant::release);
        Measurement.check(() -> {
            assertThat(cost.uses()).as("uses a second: %s", cost).isGreaterThan(500);
            assertThat(cost.confirmations())
                    .as("confirmations a second: %s", cost)
                    .isGreaterThan(3);
            assertThat(cost.grants() + cost.releases())
                    .as("grants and releases a second: %s", cost)
                    .isLessThanOrEqualTo(20);
            assertThat(cost.statements()).as("statements a second: %s", cost).isBetween(1.0, 20.0 + 10 * cost.grants());
        });
    }

    @Measured
    @Test
    void fiveHundredPermitsInUseCostTwentyGrantsAndReleasesASecond(TestReporter reporter) throws Exception {
        stop.set(false);
        String wide = cluster.semaphore(500);
        Node one = node(R);
        LongAdder uses = new LongAdder();
        PeakCounter inUse = new PeakCounter();
        Future<Boolean> busy = async(500, thread -> {
            try (PermitGrant grant = one.semaphores().acquire(request(wide).withWaitTime(SOON))) {
                inUse.enter();
                LockSupport.parkNanos(20_000_000);
                inUse.leave();
                uses.increment();
            }
        });
        awaitAllReused();

        Cost cost = Cost.of(one, uses);

        stop.set(true);
        assertThat(Concurrently.get(busy)).isTrue();
        cost.publish(reporter);
        assertThat(inUse.peak()).as("the most in use at once").isBetween(400, 500);
        Measurement.check(() -> assertThat(cost.grants() + cost.releases())
                .as("grants and releases a second: %s", cost)
                .isLessThanOrEqualTo(20));
    }

    /** Threads pause at times, so that idle permits go back. {@code -Dsemaphore.test.reuse-acquires} sets the number of acquires. */
    @ParameterizedTest
    @ValueSource(ints = {50, 250})
    void noCallerIsRefusedWhileHalfOfThePermitsAreNotInUse(int reuseMillis, TestReporter reporter) throws Exception {
        long wanted = Long.getLong("semaphore.test.reuse-acquires", 1_000_000);
        int threads = 8;
        String wide = cluster.semaphore(2 * threads);
        Duration reuse = Duration.ofMillis(reuseMillis);
        Node one = node(reuse);
        LongAdder uses = new LongAdder();
        LongAdder transactions = new LongAdder();
        LongAdder refused = new LongAdder();
        Future<Boolean> busy = async(threads, thread -> {
            Optional<PermitGrant> granted = one.semaphores().tryAcquire(request(wide));
            granted.filter(grant -> !grant.isReused()).ifPresent(grant -> transactions.increment());
            granted.ifPresentOrElse(PermitGrant::release, refused::increment);
            uses.increment();
            if (ThreadLocalRandom.current().nextInt(100_000) == 0) {
                LockSupport.parkNanos(reuse.multipliedBy(9).toNanos());
            }
        });

        await().atMost(TIME).until(() -> {
            one.events().clear(); // two of each use, which would fill the memory
            return uses.sum() >= wanted;
        });

        stop.set(true);
        assertThat(Concurrently.get(busy)).isTrue();
        reporter.publishEntry(Map.of(
                "acquires", uses.toString(), "transactions", transactions.toString(), "refused", refused.toString()));
        assertThat(transactions.sum()).as("acquires by a transaction").isGreaterThan(threads);
        assertThat(refused.sum()).as("refused of %s", uses).isZero();
    }

    private Future<Boolean> async(int threads, Concurrently.Action action) {
        return Concurrently.async(() -> {
            Concurrently.run(threads, TIME, thread -> {
                while (!stop.get()) {
                    action.run(thread);
                }
            });
            return true;
        });
    }

    /** Waits until nearly all acquires are served without a transaction. */
    private static void awaitAllReused() {
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            long before = Cost.requests("'ACQUIRED', 'RELEASED'");
            LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
            return before > 0 && Cost.requests("'ACQUIRED', 'RELEASED'") - before < 20;
        });
    }

    /** What an instance did in a second. */
    private record Cost(double uses, double statements, double confirmations, double grants, double releases) {

        static Cost of(Node node, LongAdder uses) {
            node.gate().clear();
            long used = uses.sum();
            long requests = requests("'ACQUIRED', 'RELEASED'");
            long released = requests("'RELEASED'");
            long begun = System.nanoTime();
            LockSupport.parkNanos(MEASURED.toNanos());
            double seconds = (System.nanoTime() - begun) / 1e9;
            return new Cost(
                    (uses.sum() - used) / seconds,
                    node.gate().statements().size() / seconds,
                    node.gate().count("'HELD'") / seconds,
                    (requests("'ACQUIRED', 'RELEASED'") - requests) / seconds,
                    (requests("'RELEASED'") - released) / seconds);
        }

        static long requests(String states) {
            return Objects.requireNonNull(cluster.schema()
                    .jdbc()
                    .queryForObject("select count(*) from permit_request where state in (" + states + ")", Long.class));
        }

        void publish(TestReporter reporter) {
            reporter.publishEntry("a second", toString());
        }
    }
}
