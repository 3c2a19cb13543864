package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.admin.SemaphoreAdmin.OtherCapacities;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The capacities of semaphores that patterns have created: those of the pattern, and those set by hand. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PatternCapacityIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    @RegisterExtension
    static final Instances instances = new Instances(patterns());

    private final Node first = instances.first();
    private final Node second = instances.second();
    private final String tenant = "tenant:" + instances.externalId();

    private static SemaphoreSettings patterns() {
        return Instances.inBatchesOf(800).withPattern("tenant:*", 2).withPattern("tenant:gold:*", 20);
    }

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistent();
    }

    @Test
    void isChangedForAllThatWereNotSetByHand() {
        create(tenant + "/a", tenant + "/b", tenant + "/hand", "tenant:gold:" + tenant);
        first.admin().setCapacity(tenant + "/hand", 1, "alice", "abuse");
        first.admin().create(tenant + "/declared", 7);

        int changed = first.admin().setCapacityOfPattern("tenant:*", 5, "bob", "new plan");

        assertThat(changed).isEqualTo(2);
        assertThat(capacities())
                .isEqualTo(Map.of(
                        tenant + "/a", 5,
                        tenant + "/b", 5,
                        tenant + "/hand", 1,
                        tenant + "/declared", 7,
                        "tenant:gold:" + tenant, 20));
        assertThat(first.admin().capacityHistory(tenant + "/a"))
                .extracting(CapacityChange::from, CapacityChange::to, CapacityChange::changedBy, CapacityChange::reason)
                .containsExactly(tuple(2, 5, "bob", "new plan"));
        assertThat(first.admin().capacityHistory(tenant + "/hand")).hasSize(1);
        assertThat(setBy(tenant + "/a")).isEqualTo("bob");
        assertThat(setBy(tenant + "/hand")).isEqualTo("alice");
        assertThat(first.admin().setCapacityOfPattern("tenant:*", 5, "bob", "again"))
                .isZero();
    }

    @Test
    void isThatOfTheLongestPatternWhicheverHasCreatedTheSemaphore() {
        create(tenant + "/1", tenant + "/2");
        Node later = instances.start(patterns().withPattern(tenant + "/1*", 7));

        assertThat(later.admin().otherCapacities(tenant + "/1*", 7))
                .isEqualTo(new OtherCapacities(1, sorted(Map.of(tenant + "/1", 2))));
        assertThat(later.admin().setCapacityOfPattern("tenant:*", 3, "bob", "less"))
                .isEqualTo(1);
        assertThat(later.admin().setCapacityOfPattern(tenant + "/1*", 7, "bob", "more"))
                .isEqualTo(1);

        assertThat(capacities()).isEqualTo(Map.of(tenant + "/1", 7, tenant + "/2", 3));
    }

    @Test
    void findsSemaphoresWithAnotherOne() {
        List<String> names =
                IntStream.range(0, 8).mapToObj(i -> tenant + "/" + i).toList();
        create(names.toArray(String[]::new));
        first.admin().setCapacity(tenant + "/0", 1, "alice", "abuse");

        OtherCapacities others = first.admin().otherCapacities("tenant:*", 5);

        assertThat(others.count()).isEqualTo(7);
        assertThat(others.examples()).hasSize(5).containsEntry(tenant + "/1", 2);
        assertThat(first.admin().otherCapacities("tenant:*", 2)).isEqualTo(new OtherCapacities(0, sorted(Map.of())));
    }

    /** Its columns are those that an instance writes that does not know who has set a capacity. */
    @Test
    void isThatOfThePatternIfAnEarlierVersionHasCreatedTheSemaphore() {
        instances.jdbc().update("""
                insert into semaphore(id, name, capacity, fence, live_from, pattern, waiters_until, created_at, updated_at)
                values (17, ?, 2, 1, 0, 'tenant:*', null, ?, ?)""", tenant, Instances.ago(Duration.ZERO), Instances.ago(Duration.ZERO));
        create(tenant + "/hand");
        instances.jdbc().update("update semaphore set capacity = 9, pattern = null where name = ?", tenant + "/hand");

        assertThat(first.admin().setCapacityOfPattern("tenant:*", 5, "bob", "new plan"))
                .isEqualTo(1);

        assertThat(capacities()).isEqualTo(Map.of(tenant, 5, tenant + "/hand", 9));
    }

    @Test
    void refusesAnUnknownPattern() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> first.admin().setCapacityOfPattern("tenants:*", 5, "bob", "new plan"))
                .withMessageContaining("tenants:*")
                .withMessageContaining("tenant:gold:*");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> first.admin().setCapacityOfPattern("tenant:*", -1, "bob", "new plan"));
        assertThatIllegalArgumentException().isThrownBy(() -> first.admin().otherCapacities("tenants:*", 5));
    }

    @Test
    void wakesCallersThatWaitWhereItGrew() throws Exception {
        instances.jdbc().update("delete from semaphore_waiter");
        PermitGrant held = first.semaphores().acquire(AcquireRequest.of(tenant).withPermits(tenant, 2));
        CompletableFuture<PermitGrant> waiting =
                first.semaphores().acquireAsync(AcquireRequest.of(tenant).withWaitTime(Duration.ofSeconds(60)));
        Awaitility.await()
                .atMost(SOON)
                .until(() -> instances.number("select count(*) from semaphore_waiter where waiting > 0") == 1);

        first.admin().setCapacityOfPattern("tenant:*", 3, "bob", "new plan");

        assertThat(waiting.get(SOON.toSeconds(), TimeUnit.SECONDS).isHeld()).isEqualTo(true);
        assertThat(held.isHeld()).isEqualTo(true);
        assertThat(instances.held(tenant)).isEqualTo(3);
    }

    /** The others are changed first; then the change waits for the row. */
    @Test
    void isChangedBesideALockedSemaphore() throws Exception {
        create(tenant + "/a", tenant + "/locked", tenant + "/z");
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch others = new CountDownLatch(1);
        CompletableFuture<Void> locking =
                CompletableFuture.runAsync(() -> second.transaction().executeWithoutResult(status -> {
                    second.jdbc()
                            .queryForList("select id from semaphore where name = ? for update", tenant + "/locked");
                    locked.countDown();
                    await(others);
                }));
        await(locked);
        CompletableFuture<Integer> changing = CompletableFuture.supplyAsync(
                () -> first.admin().setCapacityOfPattern("tenant:*", 5, "bob", "new plan"));
        Awaitility.await().atMost(SOON).until(() -> capacities().get(tenant + "/z") == 5);
        others.countDown();

        assertThat(changing.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(3);
        locking.join();
        assertThat(capacities().values()).containsOnly(5);
    }

    /** The order in which two instances change the same semaphores, while others acquire them, cannot be a deadlock. */
    @Test
    void isChangedByTwoInstancesAtTheSameTime() {
        create(IntStream.range(0, 450).mapToObj(i -> tenant + "/" + i).toArray(String[]::new));

        List<Integer> changed = Concurrently.call(
                4,
                SOON,
                index -> (index % 2 == 0 ? first : second)
                        .admin()
                        .setCapacityOfPattern("tenant:*", 5 + index / 2, "bob", "plan " + index));

        assertThat(changed.stream().mapToInt(Integer::intValue).sum()).isBetween(450, 8 * 450);
        assertThat(capacities().values()).hasSize(450).allMatch(capacity -> capacity == 5 || capacity == 6);
        assertThat(instances.number("select count(*) from capacity_change"))
                .isEqualTo(changed.stream().mapToInt(Integer::intValue).sum());
    }

    /** Takes a few seconds where nothing else runs; the number of transactions is what it depends on. */
    @Slow
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @Test
    void isChangedForAHundredThousandSemaphoresInFiveHundredTransactions() {
        insert(100_000, 2);
        first.gate().clear();

        long begun = System.nanoTime();
        int changed = first.admin().setCapacityOfPattern("tenant:*", 5, "bob", "new plan");
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        System.out.printf("100,000 changed in %s%n", took);

        assertThat(changed).isEqualTo(100_000);
        assertThat(first.gate().count("skip locked")).isBetween(500L, 510L);
        assertThat(first.gate().count("semaphore s where s.pattern is not null"))
                .isLessThanOrEqualTo(512L);
        assertThat(instances.number("select count(*) from semaphore where capacity = 5"))
                .isEqualTo(100_000);
        assertThat(instances.number("select count(*) from capacity_change")).isEqualTo(100_000);
        assertThat(first.admin().otherCapacities("tenant:*", 5).count()).isZero();
        Measurement.check(() -> assertThat(took).isLessThan(Duration.ofSeconds(10)));
    }

    /** A declared semaphore, or one that an operator pins, no longer follows the pattern that has created it. */
    @Test
    void isLeftWhereAnOperatorHasSetTheSameOneOrCreatesTheSemaphoreAgain() {
        create(tenant + "/a", tenant + "/pinned", tenant + "/declared");

        first.admin().setCapacity(tenant + "/pinned", 2, "alice", "abuse");
        assertThat(first.admin().create(tenant + "/declared", 2)).isEqualTo(false);
        int changed = first.admin().setCapacityOfPattern("tenant:*", 5, "bob", "new plan");

        assertThat(changed).isEqualTo(1);
        assertThat(capacities()).isEqualTo(Map.of(tenant + "/a", 5, tenant + "/pinned", 2, tenant + "/declared", 2));
        assertThat(setBy(tenant + "/pinned")).isEqualTo("alice");
        assertThat(first.admin().capacityHistory(tenant + "/pinned")).isEmpty();
    }

    @Test
    void warnsOnceWhenPatternsHaveCreatedMostOfWhatTheyMay() {
        Node narrow = instances.start(patterns().with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 10));

        List<String> warnings = LoggedWarnings.of("io.dbsemaphore.engine.PatternSemaphoreCreator", () -> {
            for (int i = 0; i < 10; i++) {
                narrow.semaphores().acquire(AcquireRequest.of(tenant + "/" + i)).release();
            }
        });

        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("created 8 semaphores", "80 %", "the 10 that semaphore.max-pattern-semaphores");
        assertThat(narrow.engine().patternSemaphores()).isEqualTo(10);
        assertThatExceptionOfType(PatternLimitExceededException.class)
                .isThrownBy(() -> narrow.semaphores().acquire(AcquireRequest.of(tenant + "/10")));
    }

    /** What the other instance creates counts although this one does not count anew. */
    @Test
    void keepsToTheLimitThatTwoInstancesShare() {
        SemaphoreSettings ten = patterns().with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 10);
        List<Node> both = List.of(instances.start(ten), instances.start(ten));

        List<Boolean> created = Concurrently.call(30, SOON, index -> {
            try {
                both.get(index % 2)
                        .semaphores()
                        .acquire(AcquireRequest.of(tenant + "/" + index))
                        .release();
                return true;
            } catch (PatternLimitExceededException refused) {
                return false;
            }
        });

        assertThat(created).filteredOn(Boolean::booleanValue).hasSize(10);
        assertThat(capacities()).hasSize(10);
    }

    @Test
    void allowsTheThousandAndFirstByDefault() {
        insert(1_000, 2);

        create(tenant);

        assertThat(instances.number("select count(*) from semaphore where pattern is not null"))
                .isEqualTo(1_001);
    }

    @Test
    void countsSemaphoresOnlyNearTheLimit() {
        Node counting = instances.start(patterns());
        counting.semaphores().acquire(AcquireRequest.of(tenant)).release();
        counting.gate().clear();

        for (int i = 0; i < 5; i++) {
            counting.semaphores().acquire(AcquireRequest.of(tenant + "/" + i)).release();
        }

        assertThat(counting.gate().count("where pattern is not null")).isZero();
        assertThat(counting.gate().count("insert into semaphore(")).isEqualTo(5);
    }

    private void create(String... names) {
        List.of(names)
                .forEach(name ->
                        first.semaphores().acquire(AcquireRequest.of(name)).release());
    }

    /** Rows as a pattern has made them. */
    private static void insert(int count, int capacity) {
        List<Object[]> rows = IntStream.range(0, count)
                .mapToObj(i -> new Object[] {1_000_000L + i, "tenant:" + i, capacity})
                .toList();
        for (int from = 0; from < count; from += 1_000) {
            List<Object[]> some = rows.subList(from, Math.min(count, from + 1_000));
            String values = "(?, ?, ?, 1, 0, 'tenant:*', ?, ?)";
            List<Object> flat = new ArrayList<>();
            some.forEach(row -> {
                flat.addAll(List.of(row));
                flat.add(Instances.ago(Duration.ZERO));
                flat.add(Instances.ago(Duration.ZERO));
            });
            instances
                    .jdbc()
                    .update(
                            "insert into semaphore(id, name, capacity, fence, live_from, pattern, created_at, updated_at) values "
                                    + String.join(", ", Collections.nCopies(some.size(), values)),
                            flat.toArray());
        }
    }

    private static Map<String, Integer> capacities() {
        Map<String, Integer> capacities = new TreeMap<>();
        instances
                .jdbc()
                .query(
                        "select name, capacity from semaphore where name like 'tenant:%'",
                        row -> {
                            capacities.put(row.getString(1), row.getInt(2));
                        });
        return capacities;
    }

    private static String setBy(String name) {
        return String.valueOf(instances
                .jdbc()
                .queryForObject("select capacity_set_by from semaphore where name = ?", String.class, name));
    }

    private static SortedMap<String, Integer> sorted(Map<String, Integer> capacities) {
        return new TreeMap<>(capacities);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(true);
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }
}
