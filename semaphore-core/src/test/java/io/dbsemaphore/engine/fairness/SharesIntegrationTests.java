package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Hiccups;
import io.dbsemaphore.testing.OtherClock;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever happens to those who wait, and whatever they ask for: all are served, within the capacity, and by turns. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharesIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(3);

    private static final List<String> ABC = List.of("a", "b", "c");

    @Measured
    @Test
    void aClosedInstanceWhoseCallerWasFirstDelaysNobody() {
        ShareCallers line = line(1, 1).hold(1);
        Node closing = Node.on(cluster.schema());
        CompletableFuture<PermitGrant> first = line.join(closing.semaphores(), "c", line.request("c"));
        line.join("a", "a", "b", "b");

        closing.close();
        assertThat(first).isCompletedExceptionally();
        line.withdrawn(1).serveAll();

        ShareCallers.check(2, () -> assertThat(line.order()).isEqualTo("a b a b"));
    }

    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    @Test
    void instancesWhoseServersHaveOtherClocksAreServedAllTheSame() {
        List<SemaphoreTemplate> instances = new ArrayList<>();
        for (int seconds : List.of(0, 2, -2)) {
            instances.add(cluster.start(new OtherClock(
                            cluster.schema().newPool(4),
                            () -> Instant.now().plusSeconds(seconds).getEpochSecond()))
                    .semaphores());
        }
        ShareCallers line = new ShareCallers(cluster.node(0).admin(), instances, cluster.semaphore(1)).hold(1);
        for (int i = 0; i < 6; i++) {
            for (String share : ABC) {
                line.begin(share, line.request(share));
            }
        }

        line.serveAll();

        assertThat(line.served()).hasSize(18);
    }

    /** Instances order differently while a configuration is rolled out. */
    @Test
    void instancesThatKnowOtherWeightsServeAll() {
        try (Node one = Node.on(cluster.schema(), weights(Map.of("a", 9)));
                Node other = Node.on(cluster.schema(), weights(Map.of("b", 9, "c", 1_000)))) {
            ShareCallers line = new ShareCallers(List.of(one, other), cluster.semaphore(2)).hold(2);
            for (int i = 0; i < 8; i++) {
                line.join("a", "b", "c");
            }

            line.serveAllAtOnce();

            assertThat(line.served()).hasSize(24);
        }
    }

    /** Many permits were granted to shares of weight one; they have a higher weight after the restart. */
    @Test
    void aRaisedWeightCountsFromTheNextGrantsOn() {
        String name = cluster.semaphore(1);
        try (Node before = Node.on(cluster.schema(), weights(Map.of("a", 1, "b", 1)))) {
            ShareCallers line = new ShareCallers(List.of(before), name).hold(1);
            line.join("a", "b", "a", "b", "b").serveAll();
        }
        try (Node after = Node.on(cluster.schema(), weights(Map.of("a", 1, "b", 5)))) {
            ShareCallers line =
                    new ShareCallers(List.of(after), name).hold(1).join(4, "a").join(15, "b");

            line.serveAll();

            List<String> order = line.served();
            // of seven grants there is one that still counts as before
            assertThat(Collections.frequency(order.subList(0, 7), "b"))
                    .as("in %s", order)
                    .isGreaterThanOrEqualTo(4);
            assertThat(Collections.frequency(order.subList(1, 13), "b"))
                    .as("in %s", order)
                    .isGreaterThanOrEqualTo(9);
        }
    }

    /** Also for those who already wait. */
    @Slow
    @Test
    void aWeightThatABeanChangesCountsForThoseWhoWait() {
        AtomicInteger weight = new AtomicInteger(1);
        AtomicInteger asked = new AtomicInteger();
        try (SemaphoreEngine engine = new SemaphoreEngine(
                cluster.schema().newPool(6),
                TestSettings.defaults(),
                List::of,
                List::of,
                List::of,
                () -> (name, share) -> {
                    asked.incrementAndGet();
                    return share.equals("b") ? weight.get() : 1;
                })) {
            ShareCallers line = new ShareCallers(
                            engine.admin(),
                            List.of(new SemaphoreTemplate(engine.permitManager())),
                            cluster.semaphore(1))
                    .hold(1)
                    .join(10, "a")
                    .join(30, "b");
            line.serve(6);
            assertThat(line.order()).isEqualTo("a b a b a b");

            weight.set(5);
            int before = asked.get();
            await().atMost(Duration.ofSeconds(25))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> {
                        line.serve(1).join(line.served().get(line.served().size() - 1));
                        return asked.get() > before + 1;
                    });
            int known = line.served().size();
            line.serve(1 + 12);

            assertThat(Collections.frequency(line.served().subList(known + 1, known + 13), "b"))
                    .as("in %s", line.served())
                    .isGreaterThanOrEqualTo(9);
            line.serveAll();
        }
    }

    /** A tenant with one new key for each grant. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void newKeysOfOneTenantGetNoMoreThanOneKeyOfAnother(int instances) {
        ShareCallers line = line(1, instances).hold(1).join(8, "v");
        line.join("flood", line.request("flood/0"));

        for (int i = 1; i <= 12; i++) {
            line.join("flood", line.request("flood/" + i));
            line.serve(1);
        }
        List<String> beginning = line.served();
        line.serveAll();

        ShareCallers.check(
                instances,
                () -> assertThat(beginning)
                        .containsExactly(
                                "v", "flood", "v", "flood", "v", "flood", "v", "flood", "v", "flood", "v", "flood"));
    }

    /** Documented: who can make up any number of tenants gets more than others. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void newTenantsAreServedBeforeOneThatHasHadItsTurn(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("v", "v");
        line.join("flood", line.request("flood0"));

        for (int i = 1; i <= 10; i++) {
            line.join("flood", line.request("flood" + i));
            line.serve(1);
        }
        List<String> beginning = line.served();
        line.serveAll();

        assertThat(line.served()).contains("v");
        ShareCallers.check(
                instances,
                () -> assertThat(beginning)
                        .startsWith(
                                "v", "flood", "flood", "flood", "flood", "flood", "flood", "flood", "flood", "flood"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void callersThatLeaveTheMiddleLeaveTheOthersInOrder(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("a");
        CompletableFuture<PermitGrant> second = line.join("a", line.request("a"));
        line.join("a", "b");
        CompletableFuture<PermitGrant> hasty = line.join("b", line.request("b").withWaitTime(Duration.ofMillis(1_500)));
        line.join("a", "b");

        second.cancel(true);
        await().atMost(ShareCallers.SOON).until(hasty::isDone);
        assertThat(hasty)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(PermitsUnavailableException.class);
        line.withdrawn(2).serveAll();

        assertThat(line.order()).isEqualTo("a b a b a");
    }

    /** Those who left were the first ones of their tenants, so that other callers are the first now. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void callersThatLeaveTheFrontLeaveTheOthersInOrder(int instances) {
        ShareCallers line = line(1, instances).hold(1);
        List<CompletableFuture<PermitGrant>> leaving = List.of(
                line.join("t", line.request("t/u")),
                line.join("o", line.request("o")),
                line.join("t", line.request("t/u")));
        line.join("t/v", "t/u", "o", "t/u", "o", "t/v");

        leaving.forEach(each -> each.cancel(true));
        line.withdrawn(leaving.size()).serveAll();

        assertThat(line.order()).isEqualTo("t/v o t/u o t/u t/v");
    }

    /** A grant of the whole capacity counts as so many permits. */
    @Test
    void anExclusiveCallerCountsForTheWholeCapacity() {
        ShareCallers line = line(2, 1).hold(2).join("a", "a", "a", "a");
        line.join("B", line.request("b").exclusive());
        line.join("b", "b");

        line.serveAllAtOnce();

        assertThat(line.order()).isEqualTo("a B a a b a b");
    }

    @Test
    void exclusiveCallersOfSeveralInstancesAreServedAmongOthers() {
        ShareCallers line = line(2, 3).hold(2);
        for (int i = 0; i < 5; i++) {
            line.join("a", "b", "c");
            line.join("E", line.request("e").exclusive());
        }

        line.serveAllAtOnce();

        assertThat(line.served()).hasSize(20);
    }

    /** It has no place in the line, whatever its share has been granted. */
    @Measured
    @ParameterizedTest
    @ValueSource(strings = {"", "a", "new", "a/new"})
    void aCallerWithoutAWaitTimeStandsBehindAll(String share) {
        ShareCallers line = line(2, 2).hold(2).join("a", "a");
        line.serve(1); // "a" is ahead of the others now
        line.join(
                "two",
                AcquireRequest.of(line.name(), 2)
                        .withWaitTime(ShareCallers.WAIT_TIME)
                        .withShare("a"));
        line.releaseAll();
        line.take();

        AcquireRequest hasty = AcquireRequest.of(line.name());
        for (int node = 0; node < 3; node++) {
            assertThat(cluster.node(node).semaphores().tryAcquire(share.isEmpty() ? hasty : hasty.withShare(share)))
                    .isEmpty();
        }
        line.serveAll();
        assertThat(line.served()).containsExactly("a", "a", "two");
    }

    @Test
    void aNewcomerWhoseTurnItIsTakesAtOnceWhatIsAvailable() throws Exception {
        ShareCallers line = line(2, 1).hold(2).join("a", "a");
        line.serve(2);
        line.join(
                "two",
                AcquireRequest.of(line.name(), 2)
                        .withWaitTime(ShareCallers.WAIT_TIME)
                        .withShare("a"));
        line.release(); // one permit is available, and withheld for the caller of two

        PermitGrant newcomer = Concurrently.get(line.begin("b", line.request("b")), ShareCallers.SOON);
        line.take();

        assertThat(newcomer.isHeld()).isTrue();
        line.release();
        line.release();
        line.take();
        line.releaseAll();
        assertThat(line.order()).isEqualTo("a a b two");
    }

    @Test
    void wherePermitsAreReusedThoseOfSharesAreGrantedByTurns() {
        try (Node reusing = Node.on(
                cluster.schema(),
                TestSettings.defaults().with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ofSeconds(10))))) {
            ShareCallers line = new ShareCallers(List.of(reusing), cluster.semaphore(1));
            reusing.semaphores()
                    .acquire(AcquireRequest.of(line.name()).withKeepAlive(true))
                    .release(); // kept for the next caller without a share
            PermitGrant first = reusing.semaphores().acquire(line.request("first"));
            assertThat(first.isReused()).isFalse();
            for (String share : List.of("a", "a", "a", "b")) {
                line.begin(share, line.request(share).withKeepAlive(true));
            }
            line.begin("-", line.request("").withKeepAlive(true));
            line.awaitWaiting();

            first.release();
            for (int i = 0; i < 5; i++) {
                PermitGrant next = line.take();
                assertThat(next.isReused()).as("grant %d", i).isFalse();
                line.release();
            }

            assertThat(line.order()).isEqualTo("a b - a a");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aRepeatedExternalIdCountsOnce(int instances) {
        ShareCallers line = line(1, instances).hold(1);
        String id = cluster.externalId();
        line.join("a", line.request("a").withExternalId(id));
        line.join("b", "a", "b", "a", "b");
        line.release();
        PermitGrant first = line.take();

        for (int i = 0; i < 5; i++) {
            PermitGrant again =
                    cluster.node(i).semaphores().acquire(line.request("a").withExternalId(id));
            assertThat(again.isReplayed()).isTrue();
            assertThat(again.fencingToken(line.name())).isEqualTo(first.fencingToken(line.name()));
        }
        line.serveAll();

        assertThat(line.order()).isEqualTo("a b a b a b");
    }

    /** A caller of two semaphores counts on both: beside it, the other callers of its share are served less often. */
    @Measured
    @Test
    void callersOfSeveralSemaphoresAreServedBesideThoseOfOne() throws Exception {
        List<String> names = cluster.semaphores(3, 2);
        Map<String, PeakCounter> inUse =
                names.stream().collect(Collectors.toMap(name -> name, name -> new PeakCounter()));
        Map<String, AtomicLong> last =
                names.stream().collect(Collectors.toMap(name -> name, name -> new AtomicLong(System.nanoTime())));
        AtomicLong longestGap = new AtomicLong();
        AtomicInteger ofSeveral = new AtomicInteger();
        List<String> shares = List.of("", "a", "b", "t/u", "t/v");
        long seed = System.nanoTime();
        long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();
        Duration hiccup;
        try (Hiccups hiccups = Hiccups.measured()) {
            Concurrently.run(12, Duration.ofSeconds(60), thread -> {
                Random random = new Random(seed + thread);
                while (System.nanoTime() < end) {
                    List<String> some = new ArrayList<>(names);
                    Collections.shuffle(some, random);
                    String[] asked = some.subList(0, 1 + random.nextInt(2)).toArray(String[]::new);
                    // the first semaphore has callers without shares only
                    boolean sharesNothing = asked.length == 1 && asked[0].equals(names.get(0));
                    String share = sharesNothing ? "" : shares.get(random.nextInt(shares.size()));
                    AcquireRequest request = AcquireRequest.of(asked).withWaitTime(ShareCallers.WAIT_TIME);
                    try (PermitGrant grant = cluster.node(thread)
                            .semaphores()
                            .acquire(share.isEmpty() ? request : request.withShare(share))) {
                        for (String name : grant.permits().keySet()) {
                            inUse.get(name).enter();
                            long now = System.nanoTime();
                            long gap = now - last.get(name).getAndSet(now);
                            longestGap.accumulateAndGet(gap, Math::max);
                        }
                        LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
                        grant.permits().keySet().forEach(name -> inUse.get(name).leave());
                        ofSeveral.addAndGet(asked.length - 1);
                    }
                }
            });
            hiccup = hiccups.worst();
        }

        assertThat(inUse.values())
                .as("seed %d", seed)
                .allSatisfy(peak -> assertThat(peak.peak()).isLessThanOrEqualTo(2));
        assertThat(ofSeveral.get())
                .as("grants of two semaphores, seed %d", seed)
                .isGreaterThan(10);
        Measurement.check(() -> assertThat(Duration.ofNanos(longestGap.get()).minus(hiccup))
                .as("without a grant, seed %d", seed)
                .isLessThan(Duration.ofSeconds(3)));
    }

    /** The share has been granted so much that all others come first. It is not among those that the instance records. */
    @Measured
    @Test
    void aShareBehindManyCallersWithoutOneDelaysNobody() {
        ShareCallers line = line(400, 1);
        AcquireRequest most = AcquireRequest.of(line.name(), 399).withWaitTime(ShareCallers.WAIT_TIME);
        line.begin("most", most);
        line.take();
        line.hold(1).join("most of a", most.withShare("a"));
        line.serve(1).join("a").join(300, "");

        long released = System.nanoTime();
        line.serve(1);
        Duration waited = Duration.ofNanos(System.nanoTime() - released);
        List<String> order = line.served();
        line.serveAll();

        assertThat(order).containsExactly("most", "most of a", "");
        assertThat(line.served()).hasSize(2 + 1 + 300);
        Measurement.check(() -> assertThat(waited).isLessThan(Duration.ofSeconds(2)));
    }

    private static ShareCallers line(int capacity, int instances) {
        return new ShareCallers(
                IntStream.range(0, instances).mapToObj(cluster::node).toList(), cluster.semaphore(capacity));
    }

    private static SemaphoreSettings weights(Map<String, Integer> weights) {
        return TestSettings.defaults().with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(weights));
    }
}
