package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityUnknownException;
import io.dbsemaphore.admin.SemaphoreAdmin.OtherCapacities;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The capacities that providers of the application give to what a pattern creates: at first, and again by the maintenance. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CapacityProviderIntegrationTests {

    private static final String LOGGER = "io.dbsemaphore.engine.ProvidedCapacities";

    @RegisterExtension
    static final Instances instances = new Instances(settings());

    private final Node first = instances.first();
    private final Node second = instances.second();
    private final String tenant = "tenant:" + instances.externalId();

    /** The application's data. */
    private final Map<String, Integer> plans = new ConcurrentHashMap<>();

    private static SemaphoreSettings settings() {
        return Instances.inBatchesOf(800)
                .withPattern("tenant:*", 2)
                .with(SemaphoreSettings.OWNER, "reports@host:1")
                .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(3));
    }

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistentAfterMaintenance();
    }

    @Test
    void givesTheCapacityOfASemaphoreThatAPatternCreates() {
        plans.put(tenant + "/gold", 7);
        plans.put(tenant + "/suspended", 0);
        first.provideBy(this::plan);

        create(first, tenant + "/gold", tenant + "/none");
        assertThat(first.semaphores().tryAcquire(AcquireRequest.of(tenant + "/suspended")))
                .isEmpty();

        assertThat(rows())
                .isEqualTo(Map.of(
                        tenant + "/gold", "7 by CapacityProvider",
                        tenant + "/none", "2 by null",
                        tenant + "/suspended", "0 by CapacityProvider"));
        assertThat(instances.number("select count(*) from capacity_change")).isZero();
    }

    @Test
    void isTheFirstThatAnswersIfThereAreSeveral() {
        first.provideBy(name -> OptionalInt.empty(), name -> OptionalInt.of(4), name -> OptionalInt.of(9));

        create(first, tenant);

        assertThat(rows()).isEqualTo(Map.of(tenant, "4 by CapacityProvider"));
    }

    @Test
    void isAskedOnAThreadOfTheLibraryOutsideTransactionsAndMayUseTheDatabase() {
        List<String> threads = new CopyOnWriteArrayList<>();
        first.provideBy(name -> {
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isEqualTo(false);
            threads.add(Thread.currentThread().getName());
            Integer semaphores = first.jdbc().queryForObject("select count(*) from semaphore", Integer.class);
            return semaphores == null ? OptionalInt.empty() : OptionalInt.of(semaphores + 5);
        });

        first.transaction().executeWithoutResult(status -> create(first, tenant));
        first.maintenance().releaseOrphans();

        assertThat(threads).hasSize(2).allMatch(thread -> thread.startsWith("semaphore-application-"));
        assertThat(capacities().get(tenant)).isGreaterThan(5);
    }

    @Test
    void isAskedAgainByTheMaintenanceOfAnyInstance() {
        plans.put(tenant + "/up", 3);
        plans.put(tenant + "/down", 6);
        plans.put(tenant + "/same", 4);
        List.of(first, second).forEach(node -> node.provideBy(this::plan));
        create(first, tenant + "/up", tenant + "/down", tenant + "/same");
        plans.putAll(Map.of(tenant + "/up", 30, tenant + "/down", 1));

        second.maintenance().releaseOrphans();
        first.maintenance().releaseOrphans();

        assertThat(capacities()).isEqualTo(Map.of(tenant + "/up", 30, tenant + "/down", 1, tenant + "/same", 4));
        assertThat(first.admin().capacityHistory(tenant + "/up"))
                .extracting(CapacityChange::from, CapacityChange::to, CapacityChange::changedBy, CapacityChange::reason)
                .containsExactly(tuple(3, 30, "CapacityProvider", "asked by the maintenance of reports@host:1"));
        assertThat(instances.number("select count(*) from capacity_change")).isEqualTo(2);
    }

    @Test
    void leavesWhatWasSetByHandAndPrecedesThePattern() {
        plans.putAll(Map.of(tenant + "/hand", 7, tenant + "/plan", 7, tenant + "/created", 7));
        first.provideBy(this::plan);
        create(first, tenant + "/hand", tenant + "/plan", tenant + "/none");
        first.admin().setCapacity(tenant + "/hand", 1, "alice", "abuse");
        first.admin().create(tenant + "/created", 5);
        plans.replaceAll((name, capacity) -> 8);

        first.maintenance().releaseOrphans();
        OtherCapacities others = second.admin().otherCapacities("tenant:*", 3);
        int changed = second.admin().setCapacityOfPattern("tenant:*", 3, "bob", "more for all");
        first.maintenance().releaseOrphans();

        assertThat(others).isEqualTo(new OtherCapacities(1, new TreeMap<>(Map.of(tenant + "/none", 2))));
        assertThat(changed).isEqualTo(1);
        assertThat(rows())
                .isEqualTo(Map.of(
                        tenant + "/hand", "1 by alice",
                        tenant + "/created", "5 by null",
                        tenant + "/plan", "8 by CapacityProvider",
                        tenant + "/none", "3 by bob"));
    }

    /** As when the provider is new: those that have the right capacity already are its own from now on. */
    @Test
    void takesOverWhatAPatternHasCreatedBefore() {
        create(first, tenant + "/same", tenant + "/other");
        plans.putAll(Map.of(tenant + "/same", 2, tenant + "/other", 6));
        first.provideBy(this::plan);

        first.maintenance().releaseOrphans();

        assertThat(first.admin().setCapacityOfPattern("tenant:*", 3, "bob", "more for all"))
                .isZero();
        assertThat(rows())
                .isEqualTo(Map.of(
                        tenant + "/same", "2 by CapacityProvider",
                        tenant + "/other", "6 by CapacityProvider"));
        assertThat(instances.number("select count(*) from capacity_change")).isEqualTo(1);
    }

    @Test
    void leavesItToThePatternAgain() {
        plans.putAll(Map.of(tenant + "/a", 7, tenant + "/b", 2));
        first.provideBy(this::plan);
        create(first, tenant + "/a", tenant + "/b");
        plans.clear();

        first.maintenance().releaseOrphans();
        first.maintenance().releaseOrphans();

        assertThat(rows()).isEqualTo(Map.of(tenant + "/a", "2 by pattern", tenant + "/b", "2 by pattern"));
        assertThat(first.admin().capacityHistory(tenant + "/a"))
                .extracting(CapacityChange::from, CapacityChange::to, CapacityChange::changedBy)
                .containsExactly(tuple(7, 2, "pattern"));
        assertThat(first.admin().setCapacityOfPattern("tenant:*", 3, "bob", "more for all"))
                .isEqualTo(2);
    }

    /** An instance of an earlier version of the application, or one whose start is not complete. */
    @Test
    void isKeptByAnInstanceWithoutProviders() {
        plans.put(tenant, 7);
        first.provideBy(this::plan);
        create(first, tenant);

        second.maintenance().releaseOrphans();

        assertThat(rows()).isEqualTo(Map.of(tenant, "7 by CapacityProvider"));
    }

    @Test
    void createsNothingIfItFails() {
        IllegalStateException failure = new IllegalStateException("The plans cannot be read");
        plans.put(tenant + "/known", 3);
        first.provideBy(name -> {
            if (!plans.containsKey(name)) {
                throw failure;
            }
            return plan(name);
        });

        assertThatExceptionOfType(CapacityUnknownException.class)
                .isThrownBy(() -> first.semaphores().acquire(AcquireRequest.of(tenant + "/known", tenant)))
                .withMessageContaining("'" + tenant + "'")
                .withMessageContaining("The plans cannot be read")
                .withMessageContaining("Nothing was acquired")
                .withCause(failure)
                .satisfies(unknown -> assertThat(unknown.name()).isEqualTo(tenant));

        assertThat(capacities()).doesNotContainKey(tenant);
        assertThat(instances.number("select count(*) from permit where state = 'ACQUIRED'"))
                .isZero();
        plans.put(tenant, 5);
        create(first, tenant);
        assertThat(capacities()).isEqualTo(Map.of(tenant, 5, tenant + "/known", 3));
    }

    @Test
    void failsIfItGivesANegativeCapacityOrNull() {
        first.provideBy(name -> OptionalInt.of(-1));
        assertThat(unknown(first)).hasMessageContaining("-1");

        first.provideBy(name -> nothing());
        assertThat(unknown(first)).hasCauseInstanceOf(NullPointerException.class);
        assertThat(capacities()).isEmpty();
    }

    /** A caller is told what it waited for, and others are served meanwhile. */
    @Test
    void failsIfItDoesNotAnswerInTime() {
        CountDownLatch answer = new CountDownLatch(1);
        first.provideBy(name -> {
            if (name.equals(tenant)) {
                await(answer);
            }
            return OptionalInt.of(4);
        });
        try {
            List<Runnable> calls = List.of(
                    () -> assertThat(unknown(first)).hasMessageContaining("It has not answered within"),
                    () -> create(first, tenant + "/other"));
            Concurrently.run(2, SOON, index -> calls.get(index).run());

            assertThat(capacities()).isEqualTo(Map.of(tenant + "/other", 4));
        } finally {
            answer.countDown();
        }
        create(first, tenant);
        assertThat(capacities()).isEqualTo(Map.of(tenant, 4, tenant + "/other", 4));
    }

    /** The caller would wait after the application has ended, and the shutdown for it. */
    @Test
    void isNotAwaitedByAShutdown() {
        Node ending = instances.start(settings());
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        ending.provideBy(name -> {
            asked.countDown();
            await(answer);
            return OptionalInt.of(4);
        });
        CompletableFuture<PermitGrant> waiting =
                ending.semaphores().acquireAsync(AcquireRequest.of(tenant).withWaitTime(Duration.ofMinutes(10)));
        await(asked);
        try {
            List<String> warnings = LoggedWarnings.of("io.dbsemaphore.engine.Run", ending::close);

            assertThat(waiting)
                    .failsWithin(SOON)
                    .withThrowableThat()
                    .withCauseInstanceOf(SemaphoreClosedException.class);
            assertThat(warnings).noneMatch(warning -> warning.contains("still in progress"));
        } finally {
            answer.countDown();
        }
    }

    /** As a busy one always is. */
    @Test
    void isAppliedToSemaphoresThatOthersHaveLocked() throws Exception {
        create(first, tenant + "/a", tenant + "/locked", tenant + "/z");
        first.provideBy(name -> OptionalInt.of(9));
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
        CompletableFuture<Void> maintenance =
                CompletableFuture.runAsync(() -> first.maintenance().releaseOrphans());
        Awaitility.await().atMost(SOON).until(() -> capacities().get(tenant + "/z") == 9);
        others.countDown();

        maintenance.get(SOON.toSeconds(), TimeUnit.SECONDS);
        locking.join();
        assertThat(capacities().values()).containsOnly(9);
    }

    @Test
    void isAskedOnceForCallersThatComeAtTheSameTime() {
        int callers = 30;
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch answer = new CountDownLatch(1);
        first.provideBy(name -> {
            calls.incrementAndGet();
            await(answer);
            return OptionalInt.of(callers);
        });
        long decided = first.events().decided();

        List<Runnable> tasks = new ArrayList<>();
        IntStream.range(0, callers).forEach(i -> tasks.add(() -> create(first, tenant)));
        tasks.add(() -> {
            Awaitility.await().atMost(SOON).until(() -> first.events().decided() >= decided + callers);
            answer.countDown();
        });
        Concurrently.run(tasks.size(), SOON, index -> tasks.get(index).run());

        assertThat(calls.get()).isBetween(1, callers / 3); // callers that are told late may come after the answer
        assertThat(capacities()).isEqualTo(Map.of(tenant, callers));
    }

    @Test
    void keepsCapacitiesWithOneWarningIfItFailsInTheMaintenance() {
        plans.putAll(Map.of(tenant + "/a", 3, tenant + "/b", 4, tenant + "/c", 5));
        first.provideBy(this::plan);
        create(first, tenant + "/a", tenant + "/b", tenant + "/c");
        first.provideBy(name -> {
            if (!name.endsWith("/c")) {
                throw new IllegalStateException("The plans cannot be read");
            }
            return OptionalInt.of(50);
        });

        List<String> warnings =
                LoggedWarnings.of(LOGGER, () -> first.maintenance().releaseOrphans());

        assertThat(capacities()).isEqualTo(Map.of(tenant + "/a", 3, tenant + "/b", 4, tenant + "/c", 50));
        assertThat(warnings).singleElement().asString().contains("2 semaphore(s)", "'" + tenant + "/a'");
    }

    @Test
    void isAskedAboutMoreSemaphoresThanOnePageAndThanOneBatch() {
        insert(2_500);
        List<String> asked = new CopyOnWriteArrayList<>();
        first.provideBy(name -> {
            asked.add(name);
            return OptionalInt.of(name.endsWith("7") ? 8 : 3);
        });

        first.maintenance().releaseOrphans();

        assertThat(new HashSet<>(asked)).hasSize(2_500).hasSameSizeAs(asked);
        assertThat(instances.number("select count(*) from semaphore where capacity = 8"))
                .isEqualTo(250);
        assertThat(instances.number("select count(*) from semaphore where capacity = 3"))
                .isEqualTo(2_250);
        assertThat(instances.number("select count(*) from capacity_change")).isEqualTo(2_500);
    }

    /** Otherwise it would keep the maintenance of all instances from other tasks. */
    @Test
    void continuesInTheNextPassIfItIsSlow() {
        Node hasty =
                instances.start(settings().with(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL, Duration.ofMillis(200)));
        create(first, tenant + "/a", tenant + "/b", tenant + "/c");
        List<String> asked = new CopyOnWriteArrayList<>();
        hasty.provideBy(name -> {
            asked.add(name);
            assertThat(awaitAtMost(new CountDownLatch(1), Duration.ofMillis(150)))
                    .isEqualTo(false);
            return OptionalInt.of(9);
        });

        hasty.maintenance().releaseOrphans();
        assertThat(asked).containsExactly(tenant + "/a");
        assertThat(capacities()).isEqualTo(Map.of(tenant + "/a", 9, tenant + "/b", 2, tenant + "/c", 2));

        IntStream.range(0, 3).forEach(i -> hasty.maintenance().releaseOrphans());
        assertThat(asked).containsExactly(tenant + "/a", tenant + "/b", tenant + "/c", tenant + "/a");
        assertThat(capacities().values()).containsOnly(9);
    }

    private OptionalInt plan(String name) {
        Integer capacity = plans.get(name);
        return capacity == null ? OptionalInt.empty() : OptionalInt.of(capacity);
    }

    private CapacityUnknownException unknown(Node node) {
        return catchThrowableOfType(
                CapacityUnknownException.class, () -> node.semaphores().acquire(AcquireRequest.of(tenant)));
    }

    /** What a provider gives that does not keep to the contract. */
    @SuppressWarnings("NullAway")
    private static OptionalInt nothing() {
        return null;
    }

    private static void create(Node node, String... names) {
        List.of(names)
                .forEach(name -> node.semaphores()
                        .acquire(AcquireRequest.of(name).withWaitTime(SOON))
                        .release());
    }

    /** Rows as a pattern has made them. */
    private static void insert(int count) {
        List<Object[]> rows = IntStream.range(0, count)
                .mapToObj(i -> new Object[] {
                    1_000_000L + i, "tenant:" + i, Instances.ago(Duration.ZERO), Instances.ago(Duration.ZERO)
                })
                .toList();
        instances.jdbc().batchUpdate("""
                insert into semaphore(id, name, capacity, fence, live_from, pattern, created_at, updated_at)
                values (?, ?, 2, 1, 0, 'tenant:*', ?, ?)""", rows);
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

    /** The capacities, and who has set them. */
    private static Map<String, String> rows() {
        Map<String, String> rows = new TreeMap<>();
        instances
                .jdbc()
                .query(
                        "select name, capacity, capacity_set_by from semaphore where name like 'tenant:%'",
                        row -> {
                            rows.put(row.getString(1), row.getInt(2) + " by " + row.getString(3));
                        });
        return rows;
    }

    private static void await(CountDownLatch latch) {
        assertThat(awaitAtMost(latch, SOON)).isEqualTo(true);
    }

    private static boolean awaitAtMost(CountDownLatch latch, Duration time) {
        try {
            return latch.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }
}
