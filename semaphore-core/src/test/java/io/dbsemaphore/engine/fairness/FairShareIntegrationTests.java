package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.SemaphoreStatus.ShareStatus;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Callers are served by turns of their shares, whatever instance they wait in. The number of each test is that of the instances.
 */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FairShareIntegrationTests {

    private static final int INSTANCES = 3;

    /** The number in the name of a share is its weight. */
    private static final Map<String, Integer> WEIGHTS = Map.of("b5", 5, "c3", 3, "A5", 5, "B3", 3, "C2", 2, "t/u4", 4);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private static final List<Node> nodes = new ArrayList<>();

    @BeforeAll
    static void start() {
        nodes.clear();
        SemaphoreSettings settings = TestSettings.defaults().with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(WEIGHTS));
        for (int i = 0; i < INSTANCES; i++) {
            nodes.add(cluster.start(cluster.schema().newPool(6), settings));
        }
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aLateKeyIsServedBeforeTheBacklogOfAnother(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("a", "a", "a", "a", "b");

        line.serveAll();

        check(instances, line, "a b a a a");
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aKeyThatComesLaterTakesItsTurnsAtOnce(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("a", "a", "a", "a", "b");
        line.serve(2);

        line.join("c", "c").serveAll();

        check(instances, line, "a b c a c a a");
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aKeyOfWeightFiveIsServedFiveTimesForEachTimeOfAnother(int instances) {
        ShareCallers line = line(1, instances).hold(1).join(8, "a").join(20, "b5");

        line.serveAll();

        check(instances, line, "a b5 b5 b5 b5 b5 a b5 b5 b5 b5 b5 a b5 b5 b5 b5 b5 a b5 b5 b5 b5 b5 a a a a");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void operatorsSeeTheCallersInTheOrderOfTheirTurns(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("a", "a", "a", "");
        line.serve(1).join("b/k");

        List<WaitingCaller> callers = nodes.get(0).admin().waitingCallers(line.name(), 10);

        assertThat(callers)
                .extracting(WaitingCaller::share)
                .containsExactly(Optional.empty(), Optional.of("b/k"), Optional.of("a"), Optional.of("a"));
        assertThat(callers.get(1).since())
                .as("the one of b, which came last")
                .isEqualTo(callers.stream()
                        .map(WaitingCaller::since)
                        .max(Comparator.naturalOrder())
                        .orElseThrow());
        line.serveAll();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void operatorsSeeTheSharesThatHoldPermitsOrWait(int instances) throws Exception {
        String name = "shares-of-" + instances;
        Node last = nodes.get(instances - 1);
        last.admin().create(name, 4);
        AcquireRequest request = AcquireRequest.of(name);
        List<PermitGrant> held = List.of(
                nodes.get(0).semaphores().acquire(AcquireRequest.of(name, 2).withShare("t/u4")),
                last.semaphores().acquire(request.withShare("b5")),
                last.semaphores().acquire(request));
        AcquireRequest waits = request.withWaitTime(ShareCallers.WAIT_TIME);
        List<CompletableFuture<PermitGrant>> waiting = List.of(
                nodes.get(0).semaphores().acquireAsync(waits.withShare("c3")),
                last.semaphores().acquireAsync(waits.withShare("t/u4")),
                last.semaphores().acquireAsync(waits.withShare("c3")),
                last.semaphores().acquireAsync(waits));
        await().atMost(ShareCallers.SOON)
                .until(() -> last.admin().find(name).orElseThrow().waiting() == waiting.size());

        assertThat(last.admin().shares(name, 10))
                .containsExactly(
                        new ShareStatus("t/u4", 2, 1, false, 1, 4),
                        new ShareStatus("b5", 1, 0, false, 5, 1),
                        new ShareStatus("c3", 0, 2, false, 3, 1));
        assertThat(last.admin().shares(name, 1)).extracting(ShareStatus::share).containsExactly("t/u4");

        held.forEach(PermitGrant::release);
        for (CompletableFuture<PermitGrant> each : waiting) {
            Concurrently.get(each.thenAccept(PermitGrant::release));
        }
        assertThat(last.admin().shares(name, 10)).isEmpty();
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void weightsAreProportionsOfTheGrants(int instances) {
        ShareCallers line =
                line(1, instances).hold(1).join(25, "A5").join(15, "B3").join(10, "C2");

        line.serve(40);
        List<String> beginning = line.served();
        line.serveAll();

        ShareCallers.check(instances, () -> {
            assertThat(List.of(count(beginning, "A5"), count(beginning, "B3"), count(beginning, "C2")))
                    .as("in %s", beginning)
                    .containsExactly(20, 12, 8);
            assertThat(ShareCallers.distance(beginning, List.of("A5", "B3", "C2"), WEIGHTS::get))
                    .as("by what is promised, in %s", beginning)
                    .isLessThanOrEqualTo(1);
        });
    }

    /** C2 does not wait: its part goes to the others, five to three. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void whatAnAbsentKeyDoesNotUseIsDividedInProportion(int instances) {
        ShareCallers line = line(1, instances).hold(1).join(15, "A5").join(9, "B3");

        line.serve(16);
        List<String> beginning = line.served();
        line.serveAll();

        ShareCallers.check(
                instances,
                () -> assertThat(List.of(count(beginning, "A5"), count(beginning, "B3")))
                        .as("in %s", beginning)
                        .containsExactly(10, 6));
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void callersWithoutAShareAreOneTenantOfWeightOne(int instances) {
        ShareCallers line = line(1, instances).hold(1);
        IntStream.range(0, 4).forEach(i -> line.begin("-", line.request("")));
        line.join(6, "c3");

        line.serveAll();

        check(instances, line, "- c3 c3 c3 - c3 c3 c3 - -");
    }

    /** Within a tenant, those without a key are one of its keys. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void callersWithoutAKeyAreOneKeyOfTheirTenant(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("t", "t", "t", "t/u4", "t/u4", "t/u4", "t/u4", "t/u4", "o");

        line.serveAll();

        check(instances, line, "t o t/u4 t/u4 t/u4 t/u4 t t/u4 t");
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void ofThreeKeysEachIsServedInTurnWhileTwoPermitsAreHeld(int instances) {
        ShareCallers line = line(2, instances).hold(2).join(5, "A").join(5, "B").join(5, "C");

        line.serveAll();

        check(instances, line, "A B C A B C A B C A B C A B C");
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aFloodOfOneKeyDoesNotDelayAnother(int instances) {
        ShareCallers line = line(1, instances).hold(1).join(20, "a");
        line.serve(10);

        line.join("b", "b", "b").serveAll();

        check(instances, line, "a a a a a a a a a a b a b a b a a a a a a a a");
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aTrickleBesideABacklogWaitsForOneGrantAtMost(int instances) {
        ShareCallers line = line(1, instances).hold(1).join(20, "a");

        for (int i = 0; i < 8; i++) {
            line.join("b").serve(2);
        }
        List<String> beginning = line.served();
        line.serveAll();

        ShareCallers.check(instances, () -> {
            for (int i = 0; i < beginning.size(); i += 2) {
                assertThat(beginning.subList(i, i + 2))
                        .as("grants %d and %d of %s", i, i + 1, beginning)
                        .containsExactlyInAnyOrder("a", "b");
            }
        });
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aTenantWithManyKeysGetsNoMoreThanOneWithOneKey(int instances) {
        ShareCallers line = line(1, instances).hold(1);
        IntStream.range(0, 30).forEach(key -> line.begin("big", line.request("big/" + key)));
        line.join(5, "small/x");

        line.serveAll();

        ShareCallers.check(
                instances,
                () -> assertThat(line.served().subList(0, 10))
                        .containsExactly(
                                "big", "small/x", "big", "small/x", "big", "small/x", "big", "small/x", "big",
                                "small/x"));
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void theKeysOfATenantShareWhatItGets(int instances) {
        ShareCallers line =
                line(1, instances).hold(1).join(12, "o").join(10, "t/u").join(4, "t/v");

        line.serveAll();

        check(instances, line, "o t/u o t/v o t/u o t/v o t/u o t/v o t/u o t/v o t/u o t/u o t/u o t/u t/u t/u");
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aKeyThatWasIdleHasSavedNothingUp(int instances) {
        ShareCallers line = line(1, instances).hold(1).join("b").join(18, "a");
        line.serve(12);

        line.join("b", "b", "b").serveAll();

        check(instances, line, "b a a a a a a a a a a a b a b a b a a a a a");
    }

    /** What a key was granted while no other waited does not count against it. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aKeyThatWaitsAloneGetsEverythingAndOwesNothing(int instances) {
        ShareCallers line = line(1, instances).hold(1).join(12, "a");
        line.serve(8);

        line.join("b", "b", "b").serveAll();

        check(instances, line, "a a a a a a a a b a b a b a a");
    }

    /** The line was empty meanwhile. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void grantsWhileNobodyWaitsDoNotCount(int instances) {
        ShareCallers line = line(1, instances);
        for (int i = 0; i < 5; i++) {
            nodes.get(i % instances).semaphores().acquire(line.request("a")).release();
        }
        line.hold(1).join("a", "b", "a", "b");

        line.serveAll();

        assertThat(cluster.schema()
                        .jdbc()
                        .queryForList(
                                "select distinct share_path from semaphore_share where semaphore_id ="
                                        + " (select id from semaphore where name = ?)",
                                String.class,
                                line.name()))
                .as("what was counted, of the callers that waited only")
                .isSubsetOf("*", "a/", "b/");
        check(instances, line, "a b a b");
    }

    @Test
    void whileNobodyWaitsNothingIsReadOrWritten() {
        ShareCallers line = line(1, 1);
        nodes.get(0).semaphores().acquire(line.request("a")).release(); // the first use checks the tables
        nodes.get(0).gate().clear();

        nodes.get(0).semaphores().acquire(line.request("a")).release();
        nodes.get(0).semaphores().acquire(line.request("b/k")).release();

        assertThat(nodes.get(0).gate().count("semaphore_share")).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void callersWithoutSharesReadAndWriteNoShares(int instances) {
        ShareCallers first = line(1, instances).hold(1).join("a").serveAll(); // the first use checks the tables
        assertThat(first.order()).isEqualTo("a");
        nodes.forEach(node -> node.gate().clear());

        ShareCallers line = line(2, instances).hold(2).join("", "", "", "", "", "");
        line.serveAll();

        assertThat(line.served()).hasSize(6);
        for (Node node : nodes.subList(0, instances)) {
            assertThat(node.gate().statements()).as("it was watched").isNotEmpty();
            assertThat(node.gate().count("semaphore_share")).isZero();
        }
    }

    /** The instances release and acquire at the same time, without the test in between. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void sharesAreKeptWhileAllReleaseAtOnce(int instances) {
        int capacity = 3;
        ShareCallers line = line(capacity, instances).hold(capacity);
        List<String> shares = List.of("a", "b5", "c3");
        line.join(10, "a").join(40, "b5").join(24, "c3");

        line.serveAllAtOnce();

        List<String> order = line.served();
        assertThat(order).hasSize(74);
        ShareCallers.check(
                instances,
                () -> assertThat(ShareCallers.distance(
                                ShareCallers.whileAllWait(order, shares),
                                shares,
                                share -> WEIGHTS.getOrDefault(share, 1)))
                        .as("by what is promised, in %s", order)
                        // of permits that are free at once, an instance may take its own before another has taken those
                        // of an earlier caller
                        .isLessThanOrEqualTo(instances == 1 ? 1 : 1 + capacity));
    }

    /** Of a key, as without shares. */
    @Test
    void aHeadStartCountsAmongTheCallersOfAKeyOnly() {
        ShareCallers line = line(1, 1).hold(1).join("a", "b");
        line.join("a2", line.request("a"));
        line.join("a3", line.request("a").withHeadStart(Duration.ofMinutes(1)));
        line.join("b2", line.request("b").withHeadStart(Duration.ofSeconds(30)));

        line.serveAll();

        assertThat(line.order()).isEqualTo("a3 b2 a b a2");
    }

    private static ShareCallers line(int capacity, int instances) {
        return new ShareCallers(nodes.subList(0, instances), cluster.semaphore(capacity));
    }

    private static int count(List<String> order, String share) {
        return Collections.frequency(order, share);
    }

    private static void check(int instances, ShareCallers line, String order) {
        ShareCallers.check(instances, () -> assertThat(line.order()).isEqualTo(order));
    }
}
