package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An instance that hands permits over within itself lets the callers of another one in. */
@Slow
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TwoInstancesIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(20);
    private static final Duration MEASURED = Duration.ofSeconds(4);
    private static final Duration WORK = Duration.ofMillis(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final AtomicBoolean over = new AtomicBoolean();

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void haveEachAShareWithAsManyThreads(int capacity) throws Exception {
        List<Integer> grants = compete(capacity, 8, 8, WORK);

        int all = grants.get(0) + grants.get(1); // an instance that keeps it to itself leaves one in a hundred
        Measurement.check(
                () -> assertThat(grants).allSatisfy(each -> assertThat(each).isGreaterThan(all / 10)));
    }

    @Measured
    @Test
    void serveOneThreadBesideFifteenRegularly() throws Exception {
        List<Integer> grants = compete(1, 15, 1, WORK);

        int all = grants.get(0) + grants.get(1); // in the order of arrival it has one of sixteen
        Measurement.check(() -> assertThat(grants.get(1)).as("of %d", all).isGreaterThan(all / 32));
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {50, 400})
    void serveACallerAlthoughTwoThreadsOfTheOtherKeepTheOnlyPermitBusy(int holdMillis) throws Exception {
        String name = cluster.semaphore(1);
        AtomicInteger first = new AtomicInteger();
        List<Future<Integer>> inFlight = start(cluster.node(0), name, 2, Duration.ofMillis(holdMillis), first);
        Awaitility.await().until(() -> first.get() >= 4);
        long begun = System.nanoTime();

        Duration waited;
        try (PermitGrant grant =
                cluster.node(1).semaphores().acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME))) {
            waited = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(grant.isHeld()).isTrue();
        } finally {
            over.set(true);
        }
        for (Future<Integer> each : inFlight) {
            Concurrently.get(each);
        }
        Measurement.check(() -> assertThat(waited).isLessThan(Duration.ofMillis(2_000 + 2L * holdMillis)));
    }

    /** How many grants each instance had. */
    private List<Integer> compete(int capacity, int threads, int others, Duration work) throws Exception {
        String name = cluster.semaphore(capacity);
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        List<Future<Integer>> all = start(cluster.node(0), name, threads, work, first);
        Awaitility.await().until(() -> first.get() > 20);
        first.set(0);
        all.addAll(start(cluster.node(1), name, others, work, second));
        LockSupport.parkNanos(MEASURED.toNanos());
        over.set(true);
        for (Future<Integer> each : all) {
            Concurrently.get(each);
        }
        return List.of(first.get(), second.get());
    }

    private List<Future<Integer>> start(Node node, String name, int threads, Duration work, AtomicInteger grants) {
        over.set(false);
        List<Future<Integer>> all = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            all.add(Concurrently.async(() -> {
                while (!over.get()) {
                    try (PermitGrant grant =
                            node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME))) {
                        LockSupport.parkNanos(work.toNanos());
                        grants.incrementAndGet();
                    }
                }
                return grants.get();
            }));
        }
        return all;
    }
}
