package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.engine.quota.ReusingProcess.Crowd;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that reuse permits, and that are killed or suspended. */
@Timeout(value = 150, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class ReuseProcessesIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration WAIT_TIME = Duration.ofSeconds(40);
    private static final String NAME = "partner";

    /** An idle permit that nobody asks for stays for eight times as long, longer than this test lets any caller wait. */
    private static final Duration DEMAND_REUSE = Duration.ofMillis(400);

    private final Schema schema = TestDatabase.createForProcesses().migrate();
    private final Node node = new Node(schema.newPool(8), ReusingProcess.settings(Duration.ZERO));
    private final List<ChildJvm> processes = new ArrayList<>();

    @BeforeEach
    void createSemaphore() {
        node.admin().create(NAME, 3);
    }

    @AfterEach
    void stop() {
        processes.forEach(ChildJvm::close);
        node.close();
        schema.close();
    }

    @Slow
    @Measured
    @Test
    void neverUseMoreThanTheCapacity(@TempDir Path directory) {
        Path file = directory.resolve("at-work");
        SharedCounter atWork = new SharedCounter(file, 0);
        List<ChildJvm> both =
                Stream.generate(() -> process(Duration.ofMillis(100))).limit(2).toList();

        for (int slot = 0; slot < both.size(); slot++) {
            both.get(slot).send("work %s 6 6 %s %d".formatted(NAME, file, slot));
        }
        List<String[]> results = both.stream()
                .map(process -> process.awaitLine("WORKED", START).split(" "))
                .toList();

        int peak = atWork.peak();
        assertThat(peak).as("the most at work at once").isLessThanOrEqualTo(3);
        Measurement.check(() -> assertThat(peak).as("the most at work at once").isGreaterThan(1));
        Measurement.check(() -> assertThat(results)
                .as("reuses of each process, within a tenth of a second each")
                .allSatisfy(result -> assertThat(Integer.parseInt(result[2])).isPositive()));
    }

    /**
     * At full speed, while processes are killed, frozen for less than the instance timeout, and suspended until their permits are
     * reclaimed. With {@code -Dsemaphore.test.reuse-attack-seconds=300} there are more than a hundred million acquires on two processors
     * that have nothing else to do.
     *
     * <p>The processes have 48 threads and 12 permits. For a third of the time all threads want one: many are refused, every use is held
     * for up to 1 ms, and every use is counted while it is held. For the rest of the time ten threads want one, now more of one process
     * and now of another. Then one in 64 uses of each thread is held and counted. An over-grant is seen if more than 12 counted uses
     * overlap. A use that began before its process was suspended is not counted afterwards, since others may have its permit; a
     * suspended process continues while all threads want permits.
     */
    @Slow
    @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @Test
    void neverUseMoreThanTheCapacityWhileTheyAreKilledAndFrozen(@TempDir Path directory, TestReporter reporter)
            throws Exception {
        int capacity = 12;
        Duration length = Duration.ofSeconds(Integer.getInteger("semaphore.test.reuse-attack-seconds", 20));
        node.admin().setCapacity(NAME, capacity, "test", "many permits");
        Path file = directory.resolve("at-work");
        List<SharedCounter> slots = Stream.iterate(0, slot -> slot + 1)
                .limit(3)
                .map(slot -> new SharedCounter(file, slot))
                .toList();
        List<ChildJvm> hammering = new ArrayList<>();
        for (int slot = 0; slot < slots.size(); slot++) {
            hammering.add(hammer(file, slot));
        }
        Random random = new Random(1);
        long begun = System.nanoTime();
        SharedCounter all = slots.get(0);
        long before = all.uses();

        Duration longest = length.plusSeconds(60); // a busy machine needs longer until it has used and refused enough
        for (int attack = 0;
                isBefore(begun, length) || !usedEnough(all, capacity) && isBefore(begun, longest);
                attack++) {
            Thread.sleep(random.nextInt(500, 2500));
            int slot = random.nextInt(slots.size());
            ChildJvm attacked = hammering.get(slot);
            switch (attack % 6) {
                case 1 -> {
                    awaitCalm(); // a process that holds a lock of the database would stop all others, too
                    attacked.stop();
                    slots.get(slot).clear(); // before its permits are reclaimed
                    awaitReclaimed(attacked);
                    Thread.sleep(Crowd.millisUntilBegin() + random.nextInt(200));
                    attacked.cont();
                }
                case 4 -> {
                    attacked.kill9();
                    slots.get(slot).clear(); // before its permits are reclaimed
                    hammering.set(slot, hammer(file, slot));
                }
                default -> {
                    attacked.stop();
                    Thread.sleep(random.nextInt(50, 2000));
                    attacked.cont();
                }
            }
        }

        reporter.publishEntry(Map.of(
                "acquires", String.valueOf(all.uses()),
                "acquires a second",
                        String.valueOf((all.uses() - before) * 1_000_000_000 / (System.nanoTime() - begun)),
                "counted while they were held", String.valueOf(all.counted()),
                "with all three processes at work", String.valueOf(all.countedInThreeSlots()),
                "refusals", String.valueOf(all.refusals()),
                "most at work", String.valueOf(all.peak())));
        assertThat(all.peak())
                .as("the most at work at once, of %,d acquires", all.uses())
                .isLessThanOrEqualTo(capacity);
        Measurement.check(() -> assertThat(usedEnough(all, capacity))
                .as(
                        "%,d acquires, %,d refusals, %,d uses with all three processes at work, %d at work at most are enough",
                        all.uses(), all.refusals(), all.countedInThreeSlots(), all.peak())
                .isTrue());
    }

    private static boolean usedEnough(SharedCounter all, int peak) {
        return all.peak() >= peak && all.uses() > 100_000 && all.refusals() > 100 && all.countedInThreeSlots() > 100;
    }

    private static boolean isBefore(long begun, Duration length) {
        return System.nanoTime() - begun < length.toNanos();
    }

    private static void awaitCalm() {
        await().atMost(WAIT_TIME).until(() -> {
            long left = Crowd.millisUntilBegin();
            return left > 500 && left < 1_500;
        });
    }

    private void awaitReclaimed(ChildJvm suspended) {
        await().atMost(WAIT_TIME)
                .until(() -> node.admin().holders(NAME).stream()
                        .noneMatch(holder -> holder.owner().startsWith("jvm-" + suspended.pid() + "@")));
    }

    /** One has had all permits and needs none, one needs ten for a tenth of the time, and one always needs twenty. */
    @Slow
    @Measured
    @Test
    void eachHasThePermitsThatItNeedsBesideOneThatNeedsNone(@TempDir Path directory) {
        node.admin().setCapacity(NAME, 30, "test", "many permits");
        Path file = directory.resolve("at-work");
        List<ChildJvm> three =
                Stream.generate(() -> process(DEMAND_REUSE)).limit(3).toList();
        three.forEach(process -> {
            process.send("fill " + NAME + " 30");
            process.awaitLine("FILLED", START);
        });

        three.get(0).send("demand %s 10 300 2700 20 true 15 %s 0".formatted(NAME, file));
        three.get(1).send("demand %s 20 15000 0 20 true 15 %s 1".formatted(NAME, file));

        assertMovesWithinTheReuseTimeAndAPoll(three.subList(0, 2));
        int peak = new SharedCounter(file, 0).peak();
        assertThat(peak).as("the most at work at once").isLessThanOrEqualTo(30);
        Measurement.check(() -> assertThat(peak).as("the most at work at once").isEqualTo(30));
    }

    /** All callers are in one process, for a second, and then in the next one. */
    @Slow
    @Measured
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void permitsFollowDemandThatMovesEachSecond(boolean waits, @TempDir Path directory) {
        node.admin().setCapacity(NAME, 8, "test", "several permits");
        Path file = directory.resolve("at-work");
        List<ChildJvm> three =
                Stream.generate(() -> process(DEMAND_REUSE)).limit(3).toList();
        three.forEach(process -> {
            process.send("fill " + NAME + " 8");
            process.awaitLine("FILLED", START);
        });

        for (int slot = 0; slot < three.size(); slot++) {
            three.get(slot).send("demand %s 8 1000 2000 1 %s 12 %s %d".formatted(NAME, waits, file, slot));
        }

        assertMovesWithinTheReuseTimeAndAPoll(three);
        int peak = new SharedCounter(file, 0).peak();
        assertThat(peak).as("the most at work at once").isLessThanOrEqualTo(8);
        Measurement.check(() -> assertThat(peak).as("the most at work at once").isGreaterThanOrEqualTo(6));
    }

    /** A permit that is idle in one process is in use in another after the reuse time and a poll at the latest. */
    private static void assertMovesWithinTheReuseTimeAndAPoll(List<ChildJvm> processes) {
        List<String[]> results = processes.stream()
                .map(process -> process.awaitLine("DEMANDED", START).split(" "))
                .toList();
        Measurement.check(() -> assertThat(results)
                .allSatisfy(result ->
                        assertThat(Integer.parseInt(result[1])).as("uses").isGreaterThan(100)));
        Measurement.check(() -> assertThat(results)
                .allSatisfy(result -> assertThat(Integer.parseInt(result[2]))
                        .as("milliseconds until a caller had its permit")
                        .isLessThan((int) DEMAND_REUSE.plusMillis(1_000).toMillis())));
    }

    private ChildJvm hammer(Path file, int slot) {
        ChildJvm process = awaitReady(ChildJvm.startOptimizing(ReusingProcess.class, schema.handOver(), "250"));
        process.send("hammer %s 16 %s %d".formatted(NAME, file, slot));
        process.awaitLine("HAMMERING", START);
        return process;
    }

    @Measured
    @Test
    void loseWhatTheyKeptWhenTheyAreKilled() {
        node.admin().setCapacity(NAME, 1, "test", "one permit only");
        ChildJvm process = process(Duration.ofSeconds(10));
        process.send("hold " + NAME);
        process.awaitLine("HOLDING", START);

        process.kill9();

        long killed = System.nanoTime();
        try (PermitGrant grant = acquire()) {
            Duration delay = Duration.ofNanos(System.nanoTime() - killed);
            assertThat(grant.isHeld()).isTrue();
            Measurement.check(() -> assertThat(delay)
                    .as("until a reused permit of a killed process was taken")
                    .isLessThan(ReusingProcess.INSTANCE_TIMEOUT.plusSeconds(6)));
        }
    }

    /** Longer than the suspension, or shorter: then the age of the permit alone forbids its reuse. */
    @ParameterizedTest
    @ValueSource(ints = {10_000, 100})
    void doNotReuseWhatWasTakenWhileTheyWereSuspended(int reuseMillis) {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "only on Linux");
        node.admin().setCapacity(NAME, 1, "test", "one permit only");
        ChildJvm process = process(Duration.ofMillis(reuseMillis));
        process.send("hold " + NAME);
        process.awaitLine("HOLDING", START);
        process.stop();
        try (PermitGrant grant = acquire()) {
            process.cont();

            process.send("release");
            process.awaitLine("RELEASED ALREADY_RELEASED", START);
            process.send("try " + NAME);
            process.awaitLine("REFUSED", START);
            assertThat(grant.isHeld()).isTrue();
        }
        process.send("try " + NAME);
        process.awaitLine("GRANTED", START);
    }

    private ChildJvm process(Duration reuse) {
        return awaitReady(ChildJvm.start(ReusingProcess.class, schema.handOver(), String.valueOf(reuse.toMillis())));
    }

    private ChildJvm awaitReady(ChildJvm process) {
        processes.add(process);
        process.awaitLine("READY", START);
        return process;
    }

    private PermitGrant acquire() {
        return node.semaphores()
                .acquire(AcquireRequest.of(NAME).withKeepAlive(true).withWaitTime(WAIT_TIME));
    }
}
