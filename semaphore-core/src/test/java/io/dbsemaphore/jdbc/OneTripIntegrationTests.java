package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.springframework.dao.DuplicateKeyException;

/** Acquires that are granted in one round trip, and what must not be granted by it. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL}) // where the driver sends several statements at once
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@DisabledIfSystemProperty(
        named = TestSettings.PIPELINING,
        matches = "false",
        disabledReason = "about several statements at once")
class OneTripIntegrationTests {

    private static final SemaphoreSettings ONE_TRIP =
            TestSettings.limits(1, 10, 3).with(SemaphoreSettings.ONE_TRIP_FROM, Duration.ZERO);

    private static Schema schema;
    private static SemaphoreRows rows;
    private static TcpProxy proxy;
    private static Node far;
    private static Node other;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        proxy = schema.newProxy();
        far = Node.behind(proxy, schema, 3, ONE_TRIP);
        other = Node.on(schema, ONE_TRIP);
    }

    @AfterAll
    static void stop() {
        far.close();
        other.close();
        proxy.close();
        schema.close();
    }

    private static AcquireRequest request(String name, int capacity) {
        far.admin().create(name, capacity);
        far.semaphores().acquire(AcquireRequest.of(name)).release(); // its id is known from now on
        return AcquireRequest.of(name);
    }

    /** The text of a grant in one round trip has the commit and the lock. */
    private static long oneTrips() {
        return proxy.statements().stream()
                .filter(text -> text.toLowerCase().contains("s.waiters_until <= "))
                .count();
    }

    @Test
    void anAcquireIsOneRoundTrip() {
        AcquireRequest request = request("lone", 1);
        List<Integer> acquires = new ArrayList<>();
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 60; i++) { // a session is kept for milliseconds; some of these have one
            proxy.clear();
            PermitGrant grant = far.semaphores().acquire(request);
            acquires.add(proxy.roundTrips());
            rows.assertHeldByOnly(grant);
            tokens.add(grant.fencingToken("lone"));
            grant.release();
        }

        assertThat(Collections.min(acquires)).isEqualTo(1);
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(rows.fence("lone")).isEqualTo(tokens.get(59));
    }

    @Test
    void aRefusalByTheTextIsDecidedByAnotherTransaction() {
        AcquireRequest request = request("held", 1);
        PermitGrant held = other.semaphores().acquire(request);
        proxy.clear();

        assertThatThrownBy(() -> far.semaphores().acquire(request))
                .isInstanceOf(PermitsUnavailableException.class)
                .hasMessageContaining("held");

        assertThat(oneTrips()).isEqualTo(1);
        rows.assertHeldByOnly(held);
        held.release();
        PermitGrant next = far.semaphores().acquire(request);
        assertThat(oneTrips()).as("none soon after a refusal").isEqualTo(1);
        rows.assertHeldByOnly(next);
        next.release();
    }

    /** Then two round trips are taken, and several statements are still sent at once. */
    @Test
    void aRejectedTextIsNotTriedAgain() {
        AcquireRequest request = request("filtered", 1);
        try (Node filtered = Node.behind(proxy, schema, 3, ONE_TRIP)) {
            filtered.semaphores().acquire(request).release();
            filtered.gate().failBefore("s.waiters_until <= ", new SQLException("rejected by a rule", "42000", 1148));
            PermitGrant first = filtered.semaphores().acquire(request);
            rows.assertHeldByOnly(first);
            first.release();
            proxy.clear();
            List<Integer> acquires = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                int before = proxy.roundTrips();
                PermitGrant grant = filtered.semaphores().acquire(request);
                acquires.add(proxy.roundTrips() - before);
                grant.release();
            }

            assertThat(oneTrips()).isZero();
            assertThat(Collections.min(acquires)).isEqualTo(2);
        }
    }

    @Measured
    @Test
    void callersOfOtherInstancesThatWaitAreNotOvertaken() throws Exception {
        String name = SemaphoreRows.name("awaited");
        AcquireRequest request = request(name, 2);
        PermitGrant held = other.semaphores().acquire(request);
        CompletableFuture<PermitGrant> waiting =
                other.semaphores().acquireAsync(AcquireRequest.of(name, 2).withWaitTime(Duration.ofSeconds(30)));
        Awaitility.await().until(() -> other.admin().find(name).orElseThrow().waiting() == 1);

        // one permit is available, and withheld
        Throwable answer =
                catchThrowable(() -> far.semaphores().acquire(request).release());

        held.release();
        waiting.get().release();
        Measurement.check(() -> assertThat(answer).isInstanceOf(PermitsUnavailableException.class));
    }

    @Measured
    @Test
    @Promise
    void severalInstancesNeverExceedTheCapacity() {
        String name = SemaphoreRows.name("contended");
        request(name, 3);
        AtomicInteger inUse = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger grants = new AtomicInteger();
        Set<Long> tokens = ConcurrentHashMap.newKeySet();
        proxy.clear();
        long end = System.nanoTime() + Duration.ofSeconds(8).toNanos();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Node node = i % 2 == 0 ? far : other;
            threads.add(CompletableFuture.runAsync(
                    () -> {
                        while (System.nanoTime() < end) {
                            ThreadLocalRandom random = ThreadLocalRandom.current();
                            int count = random.nextInt(10) == 0 ? 2 : 1;
                            AcquireRequest request = AcquireRequest.of(name, count)
                                    .withWaitTime(random.nextBoolean() ? Duration.ofMillis(300) : Duration.ZERO);
                            try (PermitGrant grant = node.semaphores().acquire(request)) {
                                most.accumulateAndGet(inUse.addAndGet(count), Math::max);
                                grants.incrementAndGet();
                                assertThat(tokens.add(grant.fencingToken(name))).isTrue();
                                Thread.sleep(random.nextInt(3));
                                inUse.addAndGet(-count);
                            } catch (PermitsUnavailableException refused) {
                                sleep();
                            } catch (InterruptedException interrupted) {
                                throw new IllegalStateException(interrupted);
                            }
                        }
                    },
                    task -> new Thread(task).start()));
        }
        threads.forEach(CompletableFuture::join);

        assertThat(most).hasValueLessThanOrEqualTo(3);
        rows.awaitNothingHeld(Duration.ofSeconds(10), Set.of(name));
        Measurement.check(() -> {
            assertThat(oneTrips()).isPositive();
            assertThat(grants).hasValueGreaterThan(50);
        });
    }

    private static void sleep() {
        try {
            Thread.sleep(5);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Test
    void aLostAnswerIsFoundByTheNextAttempt() {
        AcquireRequest request = request("answer", 1);
        proxy.clear();
        proxy.dropNextCommitAnswer("s.waiters_until <=");

        PermitGrant grant = far.semaphores().acquire(request);

        proxy.awaitDropped(Duration.ofSeconds(20));
        assertThat(oneTrips()).isEqualTo(1);
        rows.assertHeldByOnly(grant);
        grant.release();
        rows.assertNothingHeld(Set.of("answer"));
    }

    /** Several times: what the server does depends on when it notices that the client has gone. */
    @RepeatedTest(20)
    void aTextThatIsGrantedAfterItsClientHasGoneIsUndone() throws Exception {
        String late = SemaphoreRows.name("late");
        CompletableFuture<PermitGrant> acquire;
        try (Connection foreign = schema.jdbc().getDataSource().getConnection()) {
            foreign.setAutoCommit(false);
            AcquireRequest request = request(late, 1); // last: for a second it is known well enough for one round trip
            proxy.clear();
            foreign.createStatement()
                    .executeQuery("select id from semaphore where name = '%s' for update".formatted(late))
                    .close();
            acquire = CompletableFuture.supplyAsync(
                    () -> far.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(20))));
            Awaitility.await().until(() -> oneTrips() >= 1);
            proxy.cutAll();
            foreign.rollback();
        }

        PermitGrant grant = acquire.get(); // by the next attempt

        rows.assertHeldByOnly(grant);
        grant.release();
        rows.assertNothingHeld(Set.of(late));
    }

    @Test
    void aTextThatIsGrantedAfterItsCallerHasGoneIsUndone() throws Exception {
        AcquireRequest request = request("nobody", 1);
        proxy.clear();
        CompletableFuture<PermitGrant> acquire;
        try (Connection foreign = schema.jdbc().getDataSource().getConnection()) {
            foreign.setAutoCommit(false);
            foreign.createStatement()
                    .executeQuery("select id from semaphore where name = 'nobody' for update")
                    .close();
            acquire = CompletableFuture.supplyAsync(() -> far.semaphores().acquire(request));
            Awaitility.await().until(() -> oneTrips() == 1);
            proxy.refuse(true);
            proxy.cutAll();
            assertThatThrownBy(acquire::join).isInstanceOf(CompletionException.class);
            foreign.rollback();
        } finally {
            proxy.refuse(false);
        }

        rows.awaitNothingHeld(Duration.ofSeconds(20), Set.of("nobody"));
        far.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(5))).release();
    }

    /** It has not reached the server when the next attempt is refused. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL) // the text has its values, so that it can be sent again
    void aTextThatArrivesAfterTheRefusalGrantsNothing() {
        AcquireRequest request = request("overdue", 1);
        PermitGrant held = other.semaphores().acquire(request);
        proxy.clear();
        proxy.dropNextCommit("s.waiters_until <=");

        assertThatThrownBy(() -> far.semaphores().acquire(request)).isInstanceOf(PermitsUnavailableException.class);
        held.release();
        String text = proxy.statements().stream()
                .filter(each -> each.contains("s.waiters_until <="))
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(() -> schema.jdbc().execute((Connection connection) -> {
                    connection.setAutoCommit(false);
                    return connection.createStatement().execute(text);
                }))
                .isInstanceOf(DuplicateKeyException.class);

        rows.assertNothingHeld(Set.of("overdue"));
    }

    @Test
    void aRowThatIsLockedForLongDelaysTheAcquireOnly() throws Exception {
        AcquireRequest request = request("locked", 1);
        proxy.clear();
        CompletableFuture<PermitGrant> acquire;
        try (Connection foreign = schema.jdbc().getDataSource().getConnection()) {
            foreign.setAutoCommit(false);
            foreign.createStatement()
                    .executeQuery("select id from semaphore where name = 'locked' for update")
                    .close();
            acquire = CompletableFuture.supplyAsync(
                    () -> far.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(20))));
            Awaitility.await().until(() -> oneTrips() == 1);
            Thread.sleep(2_500); // longer than a statement waits for a lock
            foreign.rollback();
        }

        PermitGrant grant = acquire.get();

        rows.assertHeldByOnly(grant);
        grant.release();
        rows.assertNothingHeld(Set.of("locked"));
    }
}
