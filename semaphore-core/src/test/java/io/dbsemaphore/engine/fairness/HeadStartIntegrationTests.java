package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers are served in the order of their arrival less their head starts, whatever instance they wait in. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeadStartIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int CALLERS = 100;

    /** An instance knows the clock of the database as well as its fastest round trip was. */
    private static final Duration ARRIVAL_ERROR = Duration.ofMillis(100);

    @RegisterExtension
    static final Cluster cluster = new Cluster(3);

    /** The callers by the fencing tokens of their grants, which rise in the order of the grants. */
    private final SortedMap<Long, Caller> served = Collections.synchronizedSortedMap(new TreeMap<>());

    /** The time of this JVM before each caller released its permits, in nanoseconds. */
    private final Map<Caller, Long> released = new ConcurrentHashMap<>();

    private final List<Future<?>> callers = new ArrayList<>();

    /**
     * A caller.
     *
     * @param began the time of this JVM before it came, in nanoseconds
     * @param came that after it had come
     */
    private record Caller(String name, long began, long came, Duration headStart) {

        /** Whether it came after the other one. */
        private boolean isAfter(Caller other) {
            return began > other.came;
        }

        /** By how much at least it came too late to be served before the other one; negative if it did not. */
        private Duration tooLate(Caller other) {
            return Duration.ofNanos(began - other.came).minus(headStart).plus(other.headStart);
        }
    }

    @Measured
    @Test
    void aCallerIsOvertakenOnlyByThoseThatCameLaterByLessThanTheirHeadStart() throws Exception {
        served.clear();
        callers.clear();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        for (int i = 0; i < CALLERS; i++) {
            Duration headStart = Duration.ofMillis(500L * random.nextInt(5));
            begin("c" + i, cluster.node(random.nextInt(3)), AcquireRequest.of(name), headStart);
            LockSupport.parkNanos(Duration.ofMillis(random.nextInt(30)).toNanos());
            if (i == CALLERS / 3) {
                held.release();
            }
        }
        awaitAll();

        List<Caller> order = List.copyOf(served.values());
        assertThat(order).hasSize(CALLERS);
        int overtaken = 0;
        List<String> tooLate = new ArrayList<>();
        for (int i = 1; i < CALLERS; i++) {
            long permitFreeAt = released.get(order.get(i - 1));
            for (Caller next : order.subList(i + 1, CALLERS)) {
                Caller first = order.get(i);
                overtaken += first.isAfter(next) ? 1 : 0;
                boolean couldBeServed = next.came < permitFreeAt;
                if (couldBeServed && first.tooLate(next).compareTo(ARRIVAL_ERROR) > 0) {
                    tooLate.add(first + " was served before " + next);
                }
            }
        }
        assertThat(overtaken).as("overtaken at all").isGreaterThan(CALLERS);
        Measurement.check(() ->
                assertThat(tooLate).as("too late to overtake, seed %d", seed).isEmpty());
    }

    /** Nobody else waits when the second one comes to its instance, and the third one to another instance comes between the two. */
    @Measured
    @Test
    void servesThoseWhoComeLaterBetweenThoseWhoWait() throws Exception {
        served.clear();
        callers.clear();
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(2).semaphores().acquire(AcquireRequest.of(name));
        waitBehind("last", 0, AcquireRequest.of(name), Duration.ZERO);
        waitBehind("first", 0, AcquireRequest.of(name), Duration.ofMinutes(10));
        waitBehind("second", 1, AcquireRequest.of(name), Duration.ofMinutes(5));
        waitBehind("third", 2, AcquireRequest.of(name), Duration.ofMinutes(2));

        held.release();
        awaitAll();

        Measurement.check(() -> assertThat(served.values())
                .extracting(Caller::name)
                .containsExactly("first", "second", "third", "last"));
    }

    /** Three came one after the other; two come at once then, of which the second has a head start. */
    @Measured
    @Test
    void aHeadStartAges() throws Exception {
        served.clear();
        callers.clear();
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        long unit = Duration.ofMillis(25).toNanos();
        begin("A", cluster.node(0), AcquireRequest.of(name), Duration.ZERO);
        LockSupport.parkNanos(30 * unit);
        begin("B", cluster.node(1), AcquireRequest.of(name), Duration.ZERO);
        LockSupport.parkNanos(90 * unit);
        begin("C", cluster.node(2), AcquireRequest.of(name), Duration.ZERO);
        LockSupport.parkNanos(20 * unit);
        begin("X", cluster.node(0), AcquireRequest.of(name), Duration.ZERO);
        begin("Y", cluster.node(1), AcquireRequest.of(name), Duration.ofNanos(125 * unit));
        awaitWaiting(name, 5);

        held.release();
        awaitAll();

        Measurement.check(
                () -> assertThat(served.values()).extracting(Caller::name).containsExactly("A", "Y", "B", "C", "X"));
    }

    @Test
    void aClosedInstanceWhoseCallerWasFirstDelaysNobody() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        waitBehind("second", 1, AcquireRequest.of(name), Duration.ZERO);
        Node closing = Node.on(cluster.schema());
        Future<?> first = Concurrently.async(() -> closing.semaphores()
                .acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME).withHeadStart(Duration.ofMinutes(10))));
        awaitWaiting(name, 2);

        closing.close();
        held.release();

        awaitAll();
        assertThat(served.values()).extracting(Caller::name).containsExactly("second");
        assertThatExceptionOfType(Exception.class).isThrownBy(() -> Concurrently.get(first));
    }

    @Measured
    @Test
    void countsInTheQueueOfEachSemaphore() throws Exception {
        served.clear();
        callers.clear();
        List<String> both = cluster.semaphores(2, 1);
        List<PermitGrant> held = new ArrayList<>();
        for (String name : both) {
            held.add(cluster.node(0).semaphores().acquire(AcquireRequest.of(name)));
            waitBehind("one of " + name, 1, AcquireRequest.of(name), Duration.ZERO);
        }
        begin("both", cluster.node(2), AcquireRequest.of(both.toArray(String[]::new)), Duration.ofMinutes(10));
        both.forEach(name -> awaitWaiting(name, 2));

        await().pollInterval(Duration.ofMillis(5))
                .until(HeadStartIntegrationTests::isWindowOpen); // it collects permits
        held.forEach(PermitGrant::release);
        awaitAll();

        assertThat(served).hasSize(3);
        // the window may have been over before both were released
        Measurement.check(() ->
                assertThat(served.values()).extracting(Caller::name).first().isEqualTo("both"));
    }

    @Measured
    @Test
    void anExclusiveCallerWithAHeadStartGoesBeforeThoseWhoWait() throws Exception {
        served.clear();
        callers.clear();
        String name = cluster.semaphore(2);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name, 2));
        waitBehind("reader", 1, AcquireRequest.of(name), Duration.ZERO);
        waitBehind("writer", 2, AcquireRequest.of(name).exclusive(), Duration.ofMinutes(1));

        held.release();
        awaitAll();

        Measurement.check(
                () -> assertThat(served.values()).extracting(Caller::name).containsExactly("writer", "reader"));
    }

    /** It has no place in the line. */
    @Measured
    @Test
    void hasNoEffectWithoutAWaitTime() throws Exception {
        callers.clear();
        String name = cluster.semaphore(2);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        waitBehind("two", 1, AcquireRequest.of(name, 2), Duration.ZERO);
        AcquireRequest hasty = AcquireRequest.of(name).withHeadStart(Duration.ofMinutes(1));

        List<Throwable> answers = new ArrayList<>();
        for (int node = 0; node < 2; node++) {
            Node of = cluster.node(node);
            answers.add(catchThrowable(() -> of.semaphores().acquire(hasty).release()));
        }

        held.release();
        awaitAll();
        Measurement.check(() -> assertThat(answers)
                .allSatisfy(answer -> assertThat(answer)
                        .isInstanceOfSatisfying(
                                PermitsUnavailableException.class,
                                refused -> assertThat(refused.shortages().get(0).isWithheld())
                                        .isTrue())));
    }

    /** A permit is free, and withheld for another: the caller with a head start is granted it at its first attempt. */
    @Test
    void takesAtOnceWhatIsWithheldForLaterOnes() throws Exception {
        String name = cluster.semaphore(2);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        waitBehind("two", 1, AcquireRequest.of(name, 2), Duration.ZERO);
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(SOON).withHeadStart(Duration.ofMinutes(1));

        for (int node = 0; node < 3; node++) {
            cluster.node(node).gate().clear();
            cluster.node(node).semaphores().acquire(request).release();
        }

        assertThat(cluster.node(2).gate().count("insert into semaphore_waiter"))
                .as("refused before")
                .isZero();
        held.release();
        awaitAll();
    }

    @Test
    void countsAmongTheCallersOfAnInstanceWithoutFairness() throws Exception {
        try (Node own = Node.on(
                cluster.schema(), TestSettings.defaults().with(SemaphoreSettings.FAIR, PerSemaphore.all(false)))) {
            String name = cluster.semaphore(1);
            PermitGrant held = own.semaphores().acquire(AcquireRequest.of(name));
            AcquireRequest waiting = AcquireRequest.of(name).withWaitTime(WAIT_TIME);
            CompletableFuture<PermitGrant> second = own.semaphores().acquireAsync(waiting);
            CompletableFuture<PermitGrant> first =
                    own.semaphores().acquireAsync(waiting.withHeadStart(Duration.ofMinutes(1)));
            // no batch of this semaphore comes before the two stand in line
            assertThat(own.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

            held.release();

            Concurrently.get(first);
            assertThat(second).isNotDone();
            first.join().release();
            Concurrently.get(second).release();
        }
    }

    @Test
    void isNoPartOfWhatAnExternalIdStandsFor() {
        String id = cluster.externalId();
        AcquireRequest request =
                AcquireRequest.of(cluster.semaphore(1)).withExternalId(id).withWaitTime(SOON);
        PermitGrant held = cluster.node(0).semaphores().acquire(request.withHeadStart(Duration.ofMinutes(1)));

        PermitGrant again = cluster.node(1).semaphores().acquire(request.withHeadStart(Duration.ofMinutes(2)));

        assertThat(again.fencingToken()).isEqualTo(held.fencingToken());
        held.release();
    }

    /** Also of one that stands behind more callers than other instances are told of. */
    @Measured
    @Test
    void operatorsSeeSinceWhenTheLongestWaits() throws Exception {
        served.clear();
        callers.clear();
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        assertThat(cluster.node(0).admin().waiting(name)).isEmpty(); // the first report takes its time
        Instant before = cluster.node(0).admin().now();
        waitBehind("last", 1, AcquireRequest.of(name), Duration.ZERO);
        Instant after = cluster.node(0).admin().now();
        for (int i = 0; i < 17; i++) {
            begin("c" + i, cluster.node(1), AcquireRequest.of(name), Duration.ofMinutes(10));
        }
        awaitWaiting(name, 18);

        List<WaitingInstance> waiting = cluster.node(0).admin().waiting(name);

        held.release();
        awaitAll();
        assertThat(served.values()).extracting(Caller::name).last().isEqualTo("last");
        Measurement.check(() -> assertThat(waiting)
                .singleElement()
                .extracting(WaitingInstance::since)
                .satisfies(
                        since -> assertThat(since).isBetween(before.minus(ARRIVAL_ERROR), after.plus(ARRIVAL_ERROR))));
    }

    /** Waits in this instance until it is served, and holds the permits for a moment. */
    private void begin(String name, Node node, AcquireRequest request, Duration headStart) {
        long began = System.nanoTime();
        CompletableFuture<PermitGrant> acquire =
                node.semaphores().acquireAsync(request.withWaitTime(WAIT_TIME).withHeadStart(headStart));
        Caller caller = new Caller(name, began, System.nanoTime(), headStart);
        callers.add(acquire.thenAcceptAsync(grant -> {
            served.put(grant.fencingToken(request.permits().keySet().iterator().next()), caller);
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
            released.put(caller, System.nanoTime());
            grant.release();
        }));
    }

    /** Begins when all others are known to wait, and is known itself then. */
    private void waitBehind(String caller, int node, AcquireRequest request, Duration headStart) {
        String name = request.permits().keySet().iterator().next();
        long waiting = waiting(name);
        begin(caller, cluster.node(node), request, headStart);
        awaitWaiting(name, waiting + 1);
    }

    private void awaitAll() throws Exception {
        for (Future<?> caller : callers) {
            Concurrently.get(caller);
        }
    }

    private static void awaitWaiting(String name, long count) {
        await().atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> waiting(name) >= count);
    }

    /** The beginning of the time in which permits are withheld for callers of several semaphores. */
    private static boolean isWindowOpen() {
        Instant now = cluster.node(0).admin().now();
        return now.getEpochSecond() % 2 == 0
                && now.getNano() < Duration.ofMillis(300).toNanos();
    }

    private static long waiting(String name) {
        return cluster.node(0).admin().find(name).orElseThrow().waiting();
    }
}
