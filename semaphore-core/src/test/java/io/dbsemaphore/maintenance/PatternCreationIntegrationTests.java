package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many names that patterns create at the same time. */
class PatternCreationIntegrationTests {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String INSERT = "insert into semaphore(";

    @RegisterExtension
    static final Instances instances = new Instances(patterns(100_000));

    private final Node first = instances.first();
    private final Node second = instances.second();
    private final String prefix = "many:" + instances.externalId() + ":";

    private static SemaphoreSettings patterns(int limit) {
        return Instances.inBatchesOf(800)
                .withPattern("many:*", 1)
                .with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, limit);
    }

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistent();
    }

    @Test
    void ofManyCallersAreMadeInFewTransactions() throws Exception {
        List<String> names = names(300);
        first.semaphores().acquire(AcquireRequest.of(prefix + "first")).release();
        first.gate().clear();
        Pause creation = first.gate().pauseBefore(INSERT);
        List<CompletableFuture<PermitGrant>> acquiring = acquireAll(first, names);
        creation.awaitReached(LONG);

        creation.open();

        assertThat(all(acquiring)).hasSize(300);
        assertThat(first.gate().count(INSERT))
                .as("statements that insert semaphores")
                .isBetween(1L, 75L);
        assertThat(created()).isEqualTo(301);
    }

    @Measured
    @Slow
    @Test
    void areMadeFasterTogetherThanOneByOne() throws Exception {
        all(acquireAll(first, names(300))); // the JVM has compiled the code
        String unique = "many:" + instances.externalId() + ":";
        long begunAlone = System.nanoTime();
        for (int i = 0; i < 100; i++) {
            first.semaphores().acquire(AcquireRequest.of(unique + i)).release();
        }
        double alone = 100 / seconds(begunAlone);
        List<String> names =
                IntStream.range(1_000, 3_000).mapToObj(i -> unique + i).toList();
        long begun = System.nanoTime();
        List<AcquireFuture> granted = names.stream()
                .map(name -> first.semaphores().acquireAsync(AcquireRequest.of(name)))
                .toList();
        all(granted);
        double together = names.size() / seconds(begun);

        for (CompletableFuture<PermitGrant> grant : granted) {
            grant.join().release();
        }
        Measurement.check(() -> assertThat(together)
                .as("created per second, one by one %s", alone)
                .isGreaterThan(3 * alone));
    }

    /** In different orders, some of them with several names, by callers with and without a thread. */
    @Slow
    @Test
    void areMadeOnceByManyCallersOfTwoInstances() throws Exception {
        List<String> names = names(400);
        List<String> reversed = new ArrayList<>(names);
        Collections.reverse(reversed);
        List<CompletableFuture<PermitGrant>> waiting = new ArrayList<>(acquireAll(first, shuffled(names)));
        waiting.addAll(acquireAll(second, reversed));

        Concurrently.run(16, LONG, thread -> {
            Node node = thread % 2 == 0 ? first : second;
            for (int i = thread; i < 400; i += 16) {
                String next = names.get((i + 200) % 400);
                node.semaphores()
                        .acquire(AcquireRequest.of(names.get(i), next).withWaitTime(LONG))
                        .release();
            }
        });

        for (CompletableFuture<PermitGrant> each : waiting) {
            assertThat(each.get(60, TimeUnit.SECONDS).isHeld()).isFalse(); // released as soon as granted
        }
        assertThat(created()).isEqualTo(400);
    }

    @Test
    void areBoundedExactly() {
        int limit = (int) instances.number("select count(*) from semaphore where pattern is not null") + 50;
        Node one = instances.start(patterns(limit));
        Node other = instances.start(patterns(limit));
        List<String> names = names(120);
        List<CompletableFuture<PermitGrant>> results = new ArrayList<>(acquireAll(one, names.subList(0, 60)));
        results.addAll(acquireAll(other, names.subList(60, 120)));

        int granted = 0;
        for (int i = 0; i < results.size(); i++) {
            String name = names.get(i);
            try {
                results.get(i).get(60, TimeUnit.SECONDS);
                granted++;
            } catch (ExecutionException refused) {
                assertThat(refused)
                        .cause()
                        .isInstanceOfSatisfying(
                                PatternLimitExceededException.class,
                                exceeded -> assertThat(exceeded.name()).isEqualTo(name));
            } catch (Exception unexpected) {
                throw new AssertionError(unexpected);
            }
        }

        assertThat(granted).isEqualTo(50);
        assertThat(created()).isEqualTo(50);
    }

    @Test
    void areMadeAfterAFailure() throws Exception {
        instances.jdbc().execute("alter table semaphore add constraint ck_name check (name <> '" + prefix + "a')");
        try {
            Future<PermitGrant> refused =
                    Concurrently.async(() -> first.semaphores().acquire(AcquireRequest.of(prefix + "a")));

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> refused.get(60, TimeUnit.SECONDS))
                    .withStackTraceContaining("SemaphoreTemplate.acquire")
                    .satisfies(failure ->
                            assertThat(Throwables.getStackTrace(failure)).containsIgnoringCase("ck_name"));
        } finally {
            instances.jdbc().execute("alter table semaphore drop constraint ck_name");
        }

        assertThat(first.semaphores().acquire(AcquireRequest.of(prefix + "a")).isHeld())
                .isTrue();
    }

    private List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }

    private static List<String> shuffled(List<String> names) {
        List<String> shuffled = new ArrayList<>(names);
        Collections.shuffle(shuffled, new Random(42));
        return shuffled;
    }

    private long created() {
        return instances.number("select count(*) from semaphore where name like ?", prefix + "%");
    }

    /** Each is released as soon as it is granted. */
    private static List<CompletableFuture<PermitGrant>> acquireAll(Node node, List<String> names) {
        List<CompletableFuture<PermitGrant>> grants = new ArrayList<>();
        for (String name : names) {
            grants.add(node.semaphores()
                    .acquireAsync(AcquireRequest.of(name).withWaitTime(LONG))
                    .thenApply(grant -> {
                        grant.release();
                        return grant;
                    }));
        }
        return grants;
    }

    private static List<PermitGrant> all(List<? extends CompletableFuture<PermitGrant>> grants) throws Exception {
        List<PermitGrant> all = new ArrayList<>();
        for (CompletableFuture<PermitGrant> grant : grants) {
            all.add(grant.get(60, TimeUnit.SECONDS));
        }
        return all;
    }

    private static double seconds(long since) {
        return Math.max(1, System.nanoTime() - since) / 1e9;
    }
}
