package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Callers of three processes hold the only permit for random times, and wait anew before they release it, so that each key waits at every
 * moment. The duration is a system property; a minute by hand:
 *
 * <pre>{@code
 * mvn verify -pl semaphore-core -Dtest=NONE -Dsurefire.failIfNoSpecifiedTests=false -Dit.test=ShareLoadIntegrationTests \
 *     -DargLine=-Dsemaphore.test.share-load-seconds=60
 * }</pre>
 */
@Slow
@Measured
@Promise
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareLoadIntegrationTests {

    private static final Duration LOAD =
            Duration.ofSeconds(Integer.getInteger("semaphore.test.share-load-seconds", 10));
    private static final int PROCESSES = 3;

    /** In each process, of each key. */
    private static final int CALLERS = 4;

    private static final int RIVALS = 2;
    private static final double SYBIL = 1.05;

    private ShareProcesses started;
    private List<ChildJvm> processes;

    /**
     * A grant.
     *
     * @param caller with the share before the last {@code #}
     */
    /** How long the load has to last for a comparison of times. */
    private static final Duration LONG = Duration.ofSeconds(60);

    private record Grant(String caller, long token, long waitedMicros, int holdMillis) {

        private String share() {
            return caller.substring(0, caller.lastIndexOf('#'));
        }
    }

    @BeforeEach
    void start() {
        started = new ShareProcesses();
        processes = started.start(PROCESSES);
    }

    @AfterEach
    void stop() {
        started.close();
    }

    @Test
    void weightsAreProportionsAtEveryMomentAndNobodyWaitsLongerThanPromised() {
        String name = started.node().semaphore(1);
        List<String> shares = List.of("l1", "m3", "h6");
        Map<String, Integer> weights = Map.of("l1", 1, "m3", 3, "h6", 6);
        PermitGrant held = started.node().semaphores().acquire(AcquireRequest.of(name));
        for (int i = 0; i < PROCESSES; i++) {
            for (String share : shares) {
                again(processes.get(i), name, share, i * CALLERS, CALLERS, 200);
            }
        }
        awaitWaiting(name, PROCESSES * CALLERS * shares.size());

        held.release();
        runFor(LOAD, List.of(name));
        List<Grant> grants = grants(name);

        List<String> order = grants.stream().map(Grant::share).toList();
        assertThat(grants).extracting(Grant::token).doesNotHaveDuplicates();
        assertThat(order.size()).as("grants").isGreaterThan(20);
        Measurement.check(() -> {
            ProcessCallers.assertShared(order, shares);
            assertGaps(order, weights);
            assertNobodyWaitsLonger(grants, weights);
        });
    }

    /**
     * The tenant with a thousand keys and the one with one key are served at the same time, on a semaphore each, and the n-th grants of
     * both are held for the same time.
     */
    @Test
    void aTenantWithAThousandKeysDoesNotDelayItsRival() {
        String few = started.node().semaphore(1);
        String many = started.node().semaphore(1);
        List<PermitGrant> held = new ArrayList<>();
        for (String name : List.of(few, many)) {
            held.add(started.node().semaphores().acquire(AcquireRequest.of(name)));
            for (int i = 0; i < 2; i++) {
                again(processes.get(i), name, name.equals(few) ? "big/x" : "big/", i * 500, 500, 100);
            }
            awaitWaiting(name, 1_000); // so the turns begin with the same tenant on both
            again(processes.get(2), name, "rival/x", 0, RIVALS, 100);
            awaitWaiting(name, 1_000 + RIVALS);
        }

        held.forEach(PermitGrant::release);
        runFor(LOAD, List.of(few, many));

        int grants = Math.min(grants(few).size(), grants(many).size());
        List<Grant> besideFew = grants(few).subList(0, grants);
        List<Grant> besideMany = grants(many).subList(0, grants);
        assertThat(grants).as("grants of each").isGreaterThan(20);
        System.out.printf(
                "Beside one key and a thousand: %d grants each, %.3f and %.3f others between, wait of %.0f and %.0f µs%n",
                grants, meanOthers(besideFew), meanOthers(besideMany), meanWait(besideFew), meanWait(besideMany));
        Measurement.check(() -> {
            assertThat(besideMany.stream().map(Grant::share).distinct().count())
                    .as("keys that were served")
                    .isGreaterThan(grants / 3);
            assertThat(meanOthers(besideMany))
                    .as("others between two grants")
                    .isLessThanOrEqualTo(SYBIL * meanOthers(besideFew));
            if (LOAD.compareTo(LONG) >= 0) { // the fewer the holds, the more their random times differ
                assertThat(meanHeld(besideMany))
                        .as("time held by others")
                        .isLessThanOrEqualTo(SYBIL * meanHeld(besideFew));
                assertThat(meanWait(besideMany)).as("mean wait").isLessThanOrEqualTo(SYBIL * meanWait(besideFew));
            }
        });
    }

    private static void again(ChildJvm process, String name, String share, int first, int callers, int mostMillis) {
        process.send("again %s %s %d %d %d".formatted(name, share, first, first + callers, mostMillis));
    }

    private void awaitWaiting(String name, int callers) {
        await("the waiting callers of " + name)
                .atMost(Duration.ofSeconds(60))
                .until(() -> started.node().admin().find(name).orElseThrow().waiting() == callers);
    }

    /** Lets the callers run for so long, while nothing is held beyond the capacity. */
    private void runFor(Duration length, List<String> names) {
        SemaphoreRows rows = new SemaphoreRows(started.schema());
        long end = System.nanoTime() + length.toNanos();
        BooleanSupplier isOver = () -> System.nanoTime() > end;
        while (!isOver.getAsBoolean()) {
            names.forEach(name -> assertThat(rows.held(name)).as("held").isLessThanOrEqualTo(1));
        }
    }

    /** In their order. */
    private List<Grant> grants(String name) {
        List<Grant> grants = new ArrayList<>();
        for (ChildJvm process : processes) {
            for (String line : process.output()) {
                String[] words = line.split(" ");
                assertThat(words[0]).as(line).isNotEqualTo("REFUSED");
                if (words[0].equals("SERVED") && words[1].equals(name)) {
                    grants.add(new Grant(
                            words[2], Long.parseLong(words[3]), Long.parseLong(words[4]), Integer.parseInt(words[5])));
                }
            }
        }
        grants.sort(Comparator.comparingLong(Grant::token));
        return grants;
    }

    /** Before a caller that is the first of its key, another key has at most this number of grants. */
    private static int promised(int weight, int other) {
        return Math.min(other, other / weight + 1);
    }

    /** Between two grants of a key, the first of its callers waits. */
    private static void assertGaps(List<String> order, Map<String, Integer> weights) {
        weights.forEach((share, weight) -> weights.forEach((other, otherWeight) -> {
            int grants = 0;
            for (String each : order) {
                if (each.equals(share)) {
                    grants = 0;
                } else if (each.equals(other)) {
                    grants++;
                    assertThat(grants)
                            .as("grants of %s between two of %s, in %s", other, share, order)
                            .isLessThanOrEqualTo(promised(weight, otherWeight));
                }
            }
        }));
    }

    /** Before each caller are at most the others of its key, and for each of them, and itself, what is promised of the other keys. */
    private static void assertNobodyWaitsLonger(List<Grant> grants, Map<String, Integer> weights) {
        Map<String, Integer> last = new HashMap<>();
        IntStream.range(0, grants.size()).forEach(i -> {
            Grant grant = grants.get(i);
            int weight = weights.get(grant.share());
            int others = weights.entrySet().stream()
                    .filter(other -> !other.getKey().equals(grant.share()))
                    .mapToInt(other -> promised(weight, other.getValue()))
                    .sum();
            int bound = PROCESSES * CALLERS * (1 + others);
            int ahead = i - last.getOrDefault(grant.caller(), -1) - 1;
            last.put(grant.caller(), i);
            assertThat(ahead).as("grants before %s", grant).isLessThanOrEqualTo(bound);
        });
    }

    private static boolean isRival(Grant grant) {
        return grant.share().equals("rival/x");
    }

    private static double meanOthers(List<Grant> grants) {
        return grants.stream().filter(grant -> !isRival(grant)).count() / (double) count(grants);
    }

    private static double meanHeld(List<Grant> grants) {
        return grants.stream()
                        .filter(grant -> !isRival(grant))
                        .mapToLong(Grant::holdMillis)
                        .sum()
                / (double) count(grants);
    }

    /** The first wait of each caller began while permits were not yet released. */
    private static double meanWait(List<Grant> grants) {
        return grants.stream()
                .filter(ShareLoadIntegrationTests::isRival)
                .skip(RIVALS)
                .mapToLong(Grant::waitedMicros)
                .average()
                .orElseThrow();
    }

    private static long count(List<Grant> grants) {
        return grants.stream().filter(ShareLoadIntegrationTests::isRival).count();
    }
}
