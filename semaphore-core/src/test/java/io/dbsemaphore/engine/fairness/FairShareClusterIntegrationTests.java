package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Callers of three processes, with nothing in common but the database, are served by turns of their shares. The capacity is 1, so the order
 * of the grants is that of their fencing tokens.
 */
@Slow
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class FairShareClusterIntegrationTests {

    private static final int PROCESSES = 3;
    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration SERVED = Duration.ofSeconds(120);

    /** The shares, by their weights. */
    private static final List<String> SHARES = List.of("light", "medium", "heavy");

    /** For each unit of the weight of a share, so many callers wait in each process. */
    private static final int ROUNDS = 9;

    /** The head start, in seconds, of a caller before all others. */
    private static final int FIRST = 3_600;

    private static final double ROUNDING = 1e-9;

    @TempDir
    static Path directory;

    private static final List<ChildJvm> processes = new ArrayList<>();

    private static Schema schema;
    private static Node node;

    private String name = "";
    private int joined;

    /**
     * What a caller was granted.
     *
     * @param process the index of its process
     */
    private record Grant(int process, String share, long token, boolean isOverlap) {

        private String shareInProcess() {
            return process + " " + share;
        }
    }

    @BeforeAll
    static void start() {
        schema = TestDatabase.createForProcesses().migrate();
        node = Node.on(schema, SharingProcess.settings());
        processes.clear();
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(startProcess());
        }
        processes.forEach(process -> process.awaitLine("READY", START));
    }

    private static ChildJvm startProcess() {
        return ChildJvm.start(
                SharingProcess.class,
                schema.handOver(),
                directory.resolve("held").toString());
    }

    @AfterAll
    static void stop() {
        processes.forEach(ChildJvm::close);
        node.close();
        schema.close();
    }

    /** Between three tenants, and between three keys of one tenant. */
    @ParameterizedTest
    @ValueSource(strings = {"", "acme/"})
    void weightsAreProportionsOfTheGrantsAtEveryMoment(String tenant) {
        PermitGrant held = createAndHold();
        joinByWeights(tenant, processes);
        awaitWaiting(processes);

        held.release();
        List<Grant> order = awaitGranted(joined, processes);

        assertNeverTwoAtOnce(order);
        assertShared(tenant, order, PROCESSES);
    }

    /** While one process stands still for seconds, the others continue without its share. */
    @Measured
    @Test
    void weightsAreProportionsWhereEachShareWaitsInAnotherProcess() {
        PermitGrant held = createAndHold();
        for (String share : SHARES) {
            int callers = 2 * ROUNDS * SharingProcess.WEIGHTS.get(share);
            join(processes.get(SHARES.indexOf(share)), share, callers, 0);
        }
        awaitWaiting(processes);

        held.release();
        List<Grant> order = awaitGranted(joined, processes);

        assertNeverTwoAtOnce(order);
        Measurement.check(() -> assertShared("", order, PROCESSES));
    }

    /** More keys wait in each process than it records. */
    @Test
    void aTenantWithManyKeysGetsNoMoreThanOneWithOneKey() {
        PermitGrant held = createAndHold();
        for (int key = 0; key < 300; key++) {
            join(processes.get(key % PROCESSES), "big/" + key, 1, 0);
        }
        awaitWaiting(processes);
        for (int caller = 0; caller < 5; caller++) {
            join(processes.get(caller % PROCESSES), "small/x", 1, 0);
        }
        awaitWaiting(processes);

        held.release();
        List<Grant> order = awaitGranted(joined, processes);

        assertNeverTwoAtOnce(order);
        assertThat(shares(order).lastIndexOf("small/x"))
                .as("grants before the fifth of the tenant with one key, in %s", shares(order))
                .isLessThanOrEqualTo(10); // four of its own, and two more of the other tenant
    }

    /** Its caller is the first of all then, and it has had grants before. */
    @Test
    void aKilledProcessDoesNotChangeTheSharesOfTheOthers() {
        List<ChildJvm> survivors = processes.subList(0, PROCESSES - 1);
        try (ChildJvm killed = startProcess()) {
            killed.awaitLine("READY", START);
            List<ChildJvm> all =
                    Stream.concat(survivors.stream(), Stream.of(killed)).toList();
            PermitGrant held = createAndHold();
            joinByWeights("", all);
            int toBeKilled = joined / PROCESSES;
            awaitWaiting(all);
            held.release();
            killed.awaitLine("GRANTED " + name, SERVED);
            killed.awaitLine("GRANTED " + name, SERVED);
            held = hold();
            awaitWaiting(all);
            join(killed, "first", 1, FIRST);
            awaitWaiting(all);
            List<Grant> before = granted(all);

            killed.kill9();
            assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
            held.release();
            awaitGranted(joined - 1 - toBeKilled, survivors);

            List<Grant> order = granted(all);
            assertNeverTwoAtOnce(order);
            assertThat(order).startsWith(before.toArray(Grant[]::new));
            assertThat(order.subList(before.size(), order.size()))
                    .as("grants after the end of the killed process")
                    .allMatch(grant -> grant.process() < survivors.size());
            assertShared("", order, survivors.size());
        }
    }

    private PermitGrant createAndHold() {
        name = node.semaphore(1); // a further measurement has another one
        joined = 0;
        return hold();
    }

    /** Without a share, which is a tenant of its own. */
    private PermitGrant hold() {
        return node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SERVED));
    }

    /** Callers of all shares begin to wait in each of these processes. In the order of their arrival, shares and processes are mixed. */
    private void joinByWeights(String tenant, List<ChildJvm> each) {
        for (int round = 1; round <= ROUNDS; round++) {
            int headStart = FIRST - 60 * round;
            for (ChildJvm process : each) {
                SHARES.forEach(share -> join(process, tenant + share, SharingProcess.WEIGHTS.get(share), headStart));
            }
        }
    }

    private void join(ChildJvm process, String share, int callers, int headStart) {
        process.send("%s %s %d %d".formatted(name, share, callers, headStart));
        joined += callers;
    }

    /** Waits until the database knows of all callers that have not been granted the permit. */
    private void awaitWaiting(List<ChildJvm> each) {
        await("the waiting callers of " + name)
                .atMost(SERVED)
                .until(() -> node.admin().find(name).orElseThrow().waiting()
                                + granted(each).size()
                        == joined);
    }

    private List<Grant> awaitGranted(int callers, List<ChildJvm> each) {
        await("grants of " + name)
                .atMost(SERVED)
                .untilAsserted(() -> assertThat(granted(each)).hasSize(callers));
        return granted(each);
    }

    /** The grants of these processes, in their order. */
    private List<Grant> granted(List<ChildJvm> each) {
        return IntStream.range(0, each.size())
                .boxed()
                .flatMap(process -> each.get(process).output().stream()
                        .map(line -> line.split(" "))
                        .filter(words -> words[0].matches("GRANTED|FAILED") && words[1].equals(name))
                        .map(words -> grant(process, words)))
                .sorted(Comparator.comparingLong(Grant::token))
                .toList();
    }

    private static Grant grant(int process, String[] words) {
        if (words[0].equals("FAILED")) {
            throw new IllegalStateException(String.join(" ", words));
        }
        return new Grant(process, words[2], Long.parseLong(words[3]), words.length > 4);
    }

    private static List<String> shares(List<Grant> order) {
        return order.stream().map(Grant::share).toList();
    }

    private static void assertNeverTwoAtOnce(List<Grant> order) {
        assertThat(order).noneMatch(Grant::isOverlap);
        assertThat(order).extracting(Grant::token).doesNotHaveDuplicates();
    }

    /** Between any two grants, as long as each share waits in each of the first processes in which it has callers. */
    private static void assertShared(String tenant, List<Grant> order, int processes) {
        List<String> waiting = order.stream()
                .filter(grant -> grant.process() < processes)
                .map(Grant::shareInProcess)
                .distinct()
                .toList();
        int end = ShareCallers.whileAllWait(
                        order.stream().map(Grant::shareInProcess).toList(), waiting)
                .size();
        List<String> served = shares(order).subList(0, end);
        List<String> shares = SHARES.stream().map(tenant::concat).toList();
        for (int begin = 0; begin < end; begin++) {
            assertThat(ShareCallers.distance(served.subList(begin, end), shares, SharingProcess.WEIGHTS::get))
                    .as("by what is promised, from grant %d on, in %s", begin, served)
                    .isLessThanOrEqualTo(1 + ROUNDING);
        }
    }
}
