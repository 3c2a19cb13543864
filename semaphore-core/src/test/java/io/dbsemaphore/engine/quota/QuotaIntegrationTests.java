package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Permits that are confirmed again and again while they are used, and that move to the instance that needs them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QuotaIntegrationTests extends ReuseFixture {

    private static final Duration R = Duration.ofMillis(500);
    private static final Duration TIME = Duration.ofSeconds(60);

    private final AtomicBoolean stop = new AtomicBoolean();

    @AfterEach
    void stopCallers() {
        stop.set(true);
    }

    @Measured
    @Test
    void aPermitIsUsedForLongerThanTheReuseTimeWithoutAnotherGrant() {
        Duration reuse = Duration.ofSeconds(2);
        Node one = node(reuse);
        one.admin().holders(name); // starts Hibernate, which may take longer than the reuse time
        useAll(one, List.of(name));
        String request = one.admin().holders(name).get(0).externalId();

        useFor(reuse.multipliedBy(3), one);

        List<PermitHolder> holders = one.admin().holders(name);
        Measurement.check(() -> assertThat(holders)
                .singleElement()
                .satisfies(holder -> assertThat(holder.externalId()).isEqualTo(request)));
    }

    @Test
    void noUseBeginsThatWasNotConfirmedWithinTheReuseTime() {
        Duration reuse = Duration.ofSeconds(2);
        Node one = node(reuse);
        useAll(one, List.of(name));
        Pause confirmation = one.gate().pauseBefore("'HELD'");
        try {
            long begun = System.nanoTime();
            int reused = 0;
            long last = begun;
            while (System.nanoTime() - begun < reuse.multipliedBy(3).toNanos()) {
                long now = System.nanoTime();
                Optional<PermitGrant> grant = one.semaphores().tryAcquire(request());
                if (grant.isPresent() && grant.get().isReused()) {
                    reused++;
                    last = now;
                } else if (grant.isEmpty() || System.nanoTime() - begun > reuse.toNanos()) {
                    grant.ifPresent(PermitGrant::release);
                    break; // from now on it is another grant
                }
                grant.ifPresent(PermitGrant::release);
            }
            assertThat(reused).isPositive();
            assertThat(Duration.ofNanos(last - begun)).isLessThan(reuse.multipliedBy(2));
        } finally {
            confirmation.open();
        }
    }

    /** The permit may have been taken away between the question and the answer. */
    @Test
    void theReuseTimeCountsFromTheQuestionToTheDatabase() {
        Duration reuse = Duration.ofSeconds(2);
        Node one = node(reuse);
        useAll(one, List.of(name));
        PermitGrant use = one.semaphores().acquire(request());
        Pause answer = one.gate().pauseAfter("'HELD'");
        answer.awaitReached(SOON);
        LockSupport.parkNanos(reuse.toNanos());
        Pause next = one.gate().pauseBefore("'HELD'");
        answer.open();
        next.awaitReached(SOON); // the answer has come
        try {
            use.release();
            try (PermitGrant grant = one.semaphores().acquire(request())) {
                assertThat(grant.isReused()).isFalse();
            }
        } finally {
            next.open();
        }
    }

    @Measured
    @Test
    void manyPermitsAreConfirmedByFewStatements() {
        Node one = node(Duration.ofSeconds(2));
        List<String> names = cluster.semaphores(100, 4);
        useAll(one, names);
        one.gate().clear();
        long begun = System.nanoTime();

        useFor(Duration.ofSeconds(5), one, names);

        double seconds = (System.nanoTime() - begun) / 1e9;
        Measurement.check(() -> assertThat(one.gate().statements().stream()
                                .filter(QuotaIntegrationTests::isOfPermits)
                                .count()
                        / seconds)
                .as("statements a second")
                .isLessThan(10));
    }

    /** That of the keep-alive, which renews and sends heartbeats on it meanwhile. */
    @Test
    void oneConnectionIsKeptForConfirmations() {
        Duration reuse = Duration.ofMillis(250);
        HikariDataSource pool = cluster.schema().newPool(8);
        Node one = new Node(pool, settings(reuse).with(SemaphoreSettings.INSTANCE_TIMEOUT, Duration.ofSeconds(6)));
        nodes.add(one);
        useFor(Duration.ofSeconds(5), one);
        AtomicInteger fewest = new AtomicInteger(Integer.MAX_VALUE);
        Future<Boolean> busy = Concurrently.async(() -> {
            useFor(Duration.ofSeconds(1), one);
            return true;
        });

        await().atMost(SOON).pollInterval(Duration.ofMillis(1)).until(() -> {
            fewest.accumulateAndGet(pool.getHikariPoolMXBean().getActiveConnections(), Math::min);
            return busy.isDone();
        });

        assertThat(fewest).hasValue(1);
    }

    private static boolean isOfPermits(String statement) {
        return statement.contains("permit");
    }

    /**
     * A job goes through all semaphores in 12 R. One permit of each stays for the second time if another is available, else for the
     * third.
     */
    @Measured
    @ParameterizedTest
    @CsvSource({"2, 1", "1, 2"})
    void permitsStayForAJobThatGoesThroughManySemaphores(int capacity, int times) {
        Node one = node(R);
        List<String> names = cluster.semaphores(20, capacity);
        List<Long> grants = new ArrayList<>();

        for (int time = 0; time <= times; time++) {
            long before = requests();
            for (String each : names) {
                one.semaphores().acquire(request(each)).release();
                LockSupport.parkNanos(R.multipliedBy(12).dividedBy(names.size()).toNanos());
            }
            grants.add(requests() - before);
        }

        assertThat(grants).as("grants each time").startsWith(20L);
        Measurement.check(() -> assertThat(grants.get(times))
                .as("the last of %s grants each time", grants)
                .isLessThan(10));
    }

    /** It stays longer than 8 R, but not when others want it, nor soon afterwards. */
    @Measured
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anotherInstanceGetsThePermitThatStaysLonger(boolean waits) {
        String wide = cluster.semaphore(2);
        Node keeps = node(R);
        Node needs = waits ? other : node(R);
        keeps.semaphores().acquire(request(wide)).release();
        LockSupport.parkNanos(R.multipliedBy(10).toNanos());
        long kept = cluster.held(wide);

        long begun = System.nanoTime();
        AcquireRequest both = AcquireRequest.of(wide, 2).withWaitTime(waits ? SOON : Duration.ZERO);
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> needs.semaphores().tryAcquire(both), Optional::isPresent)
                .ifPresent(PermitGrant::release);
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        useAll(keeps, List.of(wide));
        long used = cluster.held(wide);
        LockSupport.parkNanos(R.multipliedBy(10).toNanos());
        long afterwards = cluster.held(wide);

        Measurement.check(() -> {
            assertThat(kept).as("kept for ten times the reuse time").isEqualTo(1);
            assertThat(took).isLessThan(R.multipliedBy(3));
            assertThat(used).as("kept after its use").isEqualTo(1);
            assertThat(afterwards).as("kept again, soon after others wanted it").isZero();
        });
    }

    private static long requests() {
        return Objects.requireNonNull(
                cluster.schema().jdbc().queryForObject("select count(*) from permit_request", Long.class));
    }

    /** The callers never ask for more than the capacity. Permits that are kept for one count do not serve another. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aCallerIsNeverRefusedBesidePermitsThatItsInstanceKeeps(int most) {
        int threads = 16;
        String wide = cluster.semaphore(most * threads);
        Node one = node(Duration.ofMillis(250));
        AtomicInteger refused = new AtomicInteger();
        long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();

        Concurrently.run(threads, TIME, thread -> {
            while (System.nanoTime() < end) {
                int count = ThreadLocalRandom.current().nextInt(most) + 1;
                one.semaphores()
                        .tryAcquire(AcquireRequest.of(wide, count).withKeepAlive(true))
                        .ifPresentOrElse(PermitGrant::release, refused::incrementAndGet);
            }
        });

        assertThat(refused).hasValue(0);
    }

    @Test
    void aRefusedCallerOfAnotherInstanceGetsWhatIsKeptIdle() throws Exception {
        String wide = cluster.semaphore(4);
        Node keeps = node(Duration.ofSeconds(2));
        Node needs = node(Duration.ofSeconds(2));
        IntStream.range(0, 4)
                .mapToObj(i -> keeps.semaphores().acquire(request(wide)))
                .toList()
                .forEach(PermitGrant::release);
        Future<Integer> busy = Concurrently.async(
                () -> { // uses all in turn, so that none is unused for long
                    int uses = 0;
                    while (!stop.get()) {
                        List<PermitGrant> grants = new ArrayList<>();
                        for (int i = 0; i < 4; i++) {
                            keeps.semaphores().tryAcquire(request(wide)).ifPresent(grants::add);
                        }
                        grants.forEach(PermitGrant::release);
                        uses += grants.size();
                        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
                    }
                    return uses;
                });

        await().atMost(Duration.ofSeconds(15))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> needs.semaphores().tryAcquire(request(wide)), Optional::isPresent)
                .ifPresent(PermitGrant::release);

        stop.set(true);
        assertThat(Concurrently.get(busy)).isPositive();
    }

    /** One is idle, one needs a tenth, one needs all that is left. */
    @Measured
    @Test
    void whatOneInstanceDoesNotNeedMovesToAnother() {
        String wide = cluster.semaphore(30);
        Node idle = node(R);
        Node little = node(R);
        Node much = node(R);
        acquireAll(idle, wide, 30).forEach(PermitGrant::release);

        long begun = System.nanoTime();
        List<PermitGrant> few = acquireAll(little, wide, 3);
        List<PermitGrant> many = acquireAll(much, wide, 27);

        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(cluster.held(wide)).isEqualTo(30);
        few.forEach(PermitGrant::release);
        many.forEach(PermitGrant::release);
        Measurement.check(() -> assertThat(took)
                .as("within the reuse time and a poll, not eight times the reuse time")
                .isLessThan(R.multipliedBy(4)));
    }

    @Measured
    @Test
    @Promise
    void demandWandersFromInstanceToInstance() {
        String wide = cluster.semaphore(8);
        List<Node> all = List.of(node(R), node(R), node(R));
        PeakCounter inUse = new PeakCounter();
        all.forEach(each -> useAll(each, List.of(name)));
        for (int turn = 0; turn < 6; turn++) {
            Node at = all.get(turn % 3);
            AtomicInteger uses = new AtomicInteger();
            long end = System.nanoTime() + Duration.ofMillis(1_200).toNanos();
            Concurrently.run(8, TIME, thread -> {
                while (System.nanoTime() < end) {
                    PermitGrant grant = at.semaphores().acquire(request(wide).withWaitTime(TIME));
                    inUse.enter();
                    inUse.leave();
                    grant.release();
                    uses.incrementAndGet();
                }
            });
            Measurement.check(() -> assertThat(uses).as("uses in a turn").hasValueGreaterThan(500));
        }
        assertThat(inUse.peak()).isLessThanOrEqualTo(8);
    }

    @Measured
    @Test
    @Promise
    void aCapacityBelowWhatIsOutIsEffectiveInAllInstances() throws Exception {
        stop.set(false);
        String wide = cluster.semaphore(8);
        List<Node> both = List.of(node(R), node(R));
        PeakCounter inUse = new PeakCounter();
        PeakCounter afterwards = new PeakCounter();
        AtomicBoolean lowered = new AtomicBoolean();
        Future<?> busy = Concurrently.async(() -> {
            Concurrently.run(
                    8,
                    TIME,
                    thread -> { // none is refused before, which would make idle permits go back
                        while (!stop.get()) {
                            PeakCounter counter = lowered.get() ? afterwards : inUse;
                            Optional<PermitGrant> grant =
                                    both.get(thread % 2).semaphores().tryAcquire(request(wide));
                            grant.ifPresent(held -> {
                                counter.enter();
                                LockSupport.parkNanos(200_000);
                                counter.leave();
                                held.release();
                            });
                        }
                    });
            return true;
        });
        await().atMost(SOON).until(() -> inUse.peak() >= 4);

        other.admin().setCapacity(wide, 2, "operator", "test");
        LockSupport.parkNanos(R.multipliedBy(2).toNanos());
        lowered.set(true);
        LockSupport.parkNanos(R.multipliedBy(4).toNanos());
        stop.set(true);

        Concurrently.get(busy);
        assertThat(inUse.peak()).isLessThanOrEqualTo(8);
        assertThat(afterwards.peak()).isLessThanOrEqualTo(2);
        Measurement.check(() -> assertThat(afterwards.peak()).isPositive());
    }

    @Test
    @Promise
    void callersOfSeveralNamesAndExclusiveOnesGetWhatOthersReuse() throws Exception {
        String one = cluster.semaphore(4);
        String two = cluster.semaphore(4);
        List<Node> both = List.of(node(R), node(R));
        Future<?> busy = Concurrently.async(() -> {
            Concurrently.run(8, TIME, thread -> {
                while (!stop.get()) {
                    both.get(thread % 2)
                            .semaphores()
                            .acquire(request(thread % 4 < 2 ? one : two).withWaitTime(TIME))
                            .release();
                }
            });
            return true;
        });
        for (int i = 0; i < 3; i++) {
            both.get(i % 2)
                    .semaphores()
                    .acquire(AcquireRequest.of(one, two).withWaitTime(SOON))
                    .release();
            both.get(i % 2)
                    .semaphores()
                    .acquire(AcquireRequest.of(one).exclusive().withWaitTime(SOON))
                    .release();
        }
        stop.set(true);
        Concurrently.get(busy);
    }

    /** It collects them while callers of two instances reuse them. */
    @Test
    @Promise
    void aCallerOfAllPermitsOfSeveralNamesHasThemAlone() throws Exception {
        String one = cluster.semaphore(4);
        String two = cluster.semaphore(4);
        List<Node> both = List.of(node(R), node(R));
        AtomicInteger atWork = new AtomicInteger();
        Future<?> busy = Concurrently.async(() -> {
            Concurrently.run(8, TIME, thread -> {
                while (!stop.get()) {
                    try (PermitGrant grant = both.get(thread % 2)
                            .semaphores()
                            .acquire(request(thread % 4 < 2 ? one : two).withWaitTime(TIME))) {
                        atWork.incrementAndGet();
                        LockSupport.parkNanos(200_000);
                        atWork.decrementAndGet();
                    }
                }
            });
            return true;
        });
        await().atMost(SOON).until(() -> atWork.get() > 0);
        for (int i = 0; i < 4; i++) {
            try (PermitGrant grant = both.get(i % 2)
                    .semaphores()
                    .acquire(AcquireRequest.of(one, two).exclusive().withWaitTime(SOON))) {
                for (int look = 0; look < 50; look++) {
                    assertThat(atWork).as("others at work").hasValue(0);
                    LockSupport.parkNanos(1_000_000);
                }
            }
        }
        stop.set(true);
        Concurrently.get(busy);
    }

    private static List<PermitGrant> acquireAll(Node on, String of, int permits) {
        return Concurrently.call(
                permits, TIME, index -> on.semaphores().acquire(request(of).withWaitTime(SOON)));
    }

    private void useFor(Duration time, Node on) {
        useFor(time, on, List.of(name));
    }

    /** Not as fast as possible: the tokens of a grant would be used up. */
    private static void useFor(Duration time, Node on, List<String> names) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end) {
            boolean unused = useOnce(on, names);
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }
    }

    /** Until the instance has a permit of each. */
    private static void useAll(Node on, List<String> names) {
        await().atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> useOnce(on, names));
    }

    /** Returns whether all permits were reused. */
    private static boolean useOnce(Node on, List<String> names) {
        boolean reused = true;
        for (String each : names) {
            try (PermitGrant grant = on.semaphores().acquire(request(each).withWaitTime(SOON))) {
                reused &= grant.isReused();
            }
        }
        return reused;
    }
}
