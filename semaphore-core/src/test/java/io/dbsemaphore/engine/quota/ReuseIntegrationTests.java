package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.engine.batch.WaitingCallers;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Permits that are released and acquired again in the same JVM without a transaction. */
class ReuseIntegrationTests extends ReuseFixture {

    @ParameterizedTest
    @ValueSource(strings = {"PT1S", "PT2562047788015215H30M7.999999999S"})
    void anyMaximumHoldIsAllowed(Duration maxHold) {
        assertThat(node.semaphores().tryAcquire(request().withMaxHold(maxHold)))
                .get()
                .satisfies(PermitGrant::release);
    }

    @Test
    void aReleasedPermitIsReusedWithoutAStatement() {
        List<Long> tokens = new ArrayList<>();
        // one that has no idle permits of other tests, which go back meanwhile
        try (Node own = Node.on(cluster.schema(), settings(REUSE))) {
            acquire(own).release();
            own.gate().clear();

            for (int i = 0; i < 100; i++) {
                try (PermitGrant grant = acquire(own)) {
                    assertThat(grant.isReused()).isTrue();
                    assertThat(grant.isHeld()).isTrue();
                    assertThat(grant.permits()).containsExactly(Map.entry(name, 1));
                    tokens.add(grant.fencingToken());
                }
            }

            assertNoStatement(own);
            assertThat(cluster.held(name)).isEqualTo(1);
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void whatAnExclusiveAcquireHasReleasedIsReusedByTheNextOne() {
        String three = cluster.semaphore(3);
        AcquireRequest exclusive = AcquireRequest.of(three).withKeepAlive(true).exclusive();
        Node own = node(REUSE); // that has no idle permits of other tests
        own.semaphores().acquire(exclusive).release();
        own.gate().clear();

        try (PermitGrant reused = own.semaphores().acquire(exclusive)) {
            assertThat(reused.isReused()).isTrue();
            assertThat(reused.permits()).isEqualTo(Map.of(three, 3));
            assertNoStatement(own);
            assertThat(own.semaphores().tryAcquire(AcquireRequest.of(three))).isEmpty();
            assertThat(other.semaphores().tryAcquire(AcquireRequest.of(three))).isEmpty();
        }
        try (PermitGrant one = own.semaphores().acquire(AcquireRequest.of(three))) { // not refused beside idle permits
            assertThat(one.isReused()).isFalse();
        }
    }

    @Test
    void anIdlePermitGoesBack() {
        Duration reuse = Duration.ofSeconds(1);
        try (Node own = Node.on(cluster.schema(), settings(reuse))) {
            acquire(own).release();
            assertThat(cluster.held(name)).isEqualTo(1);

            await().atMost(reuse.multipliedBy(12))
                    .untilAsserted(() -> assertThat(cluster.held(name)).isZero());
            try (PermitGrant grant = acquire(other)) {
                assertThat(grant.isReused()).isFalse();
            }
        }
    }

    /** It goes back a moment before it could be used, and the caller must not be refused for that. */
    @Test
    void aCallerThatDoesNotWaitIsNotRefusedForAnIdlePermitThatGoesBack() {
        int reused = 0;
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        while (System.nanoTime() < end) {
            try (PermitGrant grant = acquire(brief)) {
                reused += grant.isReused() ? 1 : 0;
            }
        }

        assertThat(reused).isPositive();
    }

    @Test
    void tokensOfAllInstancesDifferAndThoseOfLaterGrantsAreHigher() {
        List<Long> tokens = new ArrayList<>();
        for (int turn = 0; turn < 20; turn++) {
            Node on = turn % 2 == 0 ? brief : other;
            for (int use = 0; use < 20; use++) {
                try (PermitGrant grant = on.semaphores().acquire(request().withWaitTime(Duration.ofSeconds(20)))) {
                    tokens.add(grant.fencingToken());
                }
            }
        }

        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    /** A grant raises the fence by the tokens that it gets; more would be those of another grant. */
    @Test
    void aPermitIsUsedForNoMoreThanItsTokens() {
        long highest = 0;
        for (int use = 0; use < 10_000; use++) {
            try (PermitGrant grant = acquire(node)) {
                highest = Math.max(highest, grant.fencingToken());
            }
        }

        Long fence =
                cluster.schema().jdbc().queryForObject("select fence from semaphore where name = ?", Long.class, name);
        assertThat(highest).isLessThanOrEqualTo(fence);
    }

    @Test
    void anIdlePermitIsNotInTheWayOfACallerThatCannotUseIt() {
        for (AcquireRequest different : List.of(
                request().exclusive(),
                request().withTtl(Duration.ofMinutes(7)),
                request().withShare("acme"),
                request().withExternalId(cluster.externalId()),
                AcquireRequest.of(name))) { // not kept alive
            acquire(node).release();
            try (PermitGrant grant = node.semaphores().acquire(different)) {
                assertThat(grant.isReused()).as(different.toString()).isFalse();
            }
        }
    }

    @Test
    void anIdlePermitIsKeptAlive() {
        AcquireRequest brief = request().withTtl(Duration.ofSeconds(9));
        node.semaphores().acquire(brief).release();

        LockSupport.parkNanos(Duration.ofSeconds(12).toNanos());

        try (PermitGrant grant = node.semaphores().acquire(brief)) {
            assertThat(grant.isReused()).isTrue();
            assertThat(grant.isHeld()).isTrue();
            assertThat(grant.expiresAt().orElseThrow()).isAfter(grant.acquiredAt());
        }
    }

    /** The last use begins before the maximum hold has passed since the grant, and ends after that. */
    @Test
    void eachUseHasItsMaximumHold() {
        AcquireRequest limited = request().withTtl(Duration.ofSeconds(9)).withMaxHold(Duration.ofSeconds(11));
        node.semaphores().acquire(limited).release();
        LockSupport.parkNanos(Duration.ofSeconds(6).toNanos());

        try (PermitGrant grant = node.semaphores().acquire(limited)) {
            assertThat(grant.isReused()).isTrue();
            LockSupport.parkNanos(Duration.ofSeconds(6).toNanos());
            assertThat(grant.isHeld()).isTrue();
        }
    }

    @Test
    void noPermitIsKeptIdleWhileACallerOfSeveralNamesWaits() throws Exception {
        String full = cluster.semaphore(1);
        PermitGrant taken = other.semaphores().acquire(request(full));
        PermitGrant held = acquire(node);
        CompletableFuture<PermitGrant> both =
                node.semaphores().acquireAsync(AcquireRequest.of(name, full).withWaitTime(Duration.ofSeconds(60)));
        awaitWaiting(1);

        held.release();

        await("the release, before the reuse time is over")
                .atMost(REUSE.dividedBy(2))
                .untilAsserted(() -> assertThat(cluster.held(name)).isZero());
        taken.release();
        Concurrently.get(both).release();
    }

    @Test
    void aReleasedPermitGoesToTheFirstThatWaitsInThisInstance() throws Exception {
        PermitGrant held = acquire(node);
        List<Future<PermitGrant>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(waiter(request()));
        }
        node.gate().clear();

        for (Future<PermitGrant> next : waiting) {
            assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(() -> acquire(node));
            held.release();
            held = Concurrently.get(next);
            assertThat(held.isReused()).isTrue();
        }

        assertThat(node.gate().count("insert into permit_request")).isZero();
        assertThat(cluster.held(name)).isEqualTo(1);
        held.release();
    }

    /** Without a transaction, the place decides as it does in the database. */
    @Test
    void aReleasedPermitGoesToTheFirstByItsHeadStart() throws Exception {
        PermitGrant held = acquire(node);
        Future<PermitGrant> second = waiter(request());
        Future<PermitGrant> first = waiter(request().withHeadStart(Duration.ofMinutes(1)));
        // no batch of this semaphore comes before the two stand in line
        assertThat(node.semaphores().tryAcquire(request())).isEmpty();

        held.release();

        PermitGrant handedOver = Concurrently.get(first);
        assertThat(handedOver.isReused()).isTrue();
        assertThat(second.isDone()).isFalse();
        handedOver.release();
        Concurrently.get(second).release();
    }

    @Test
    void anAsynchronousCallerIsServedToo() throws Exception {
        PermitGrant held = acquire(node);
        CompletableFuture<PermitGrant> waiting =
                node.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        assertThat(waiting).isNotDone();
        held.release();

        PermitGrant handedOver = Concurrently.get(waiting);
        assertThat(handedOver.isReused()).isTrue();
        handedOver.release();
        PermitGrant reused = Concurrently.get(node.semaphores().acquireAsync(request()));
        assertThat(reused.isReused()).isTrue();
        reused.release();
    }

    @Test
    void aPermitIsNotHandedToAFirstWaiterThatAsksForSomethingElse() throws Exception {
        PermitGrant held = acquire(node);
        Future<PermitGrant> exclusive = waiter(request().exclusive());
        Future<PermitGrant> second = waiter(request());

        held.release();

        PermitGrant first = Concurrently.get(exclusive);
        assertThat(second.isDone()).isFalse();
        first.release();
        Concurrently.get(second).release();
    }

    @Measured
    @Test
    void aReleasedPermitGoesToAnotherInstanceWhoseCallerCameFirst() throws Exception {
        PermitGrant held = acquire(node);
        CompletableFuture<PermitGrant> elsewhere =
                other.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        awaitWaiting(1);
        CompletableFuture<PermitGrant> here =
                node.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        Future<Void> hereReleased = here.thenAcceptAsync(PermitGrant::release);
        awaitWaiting(2);

        held.release();

        PermitGrant first = Concurrently.get(elsewhere);
        boolean overtaken = here.isDone();
        first.release();
        Concurrently.get(hereReleased);
        Measurement.check(() -> assertThat(overtaken).isFalse());
    }

    /** It is not kept either if no caller of this instance waits for it. */
    @Measured
    @Test
    void aReleasedPermitIsNotKeptForLaterWhileACallerOfAnotherInstanceWaits() throws Exception {
        PermitGrant held = acquire(node);
        CompletableFuture<PermitGrant> elsewhere =
                other.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        awaitWaiting(1);
        long decided = node.events().decided();
        assertThat(node.semaphores().tryAcquire(request())).isEmpty();
        await().atMost(SOON).until(() -> node.events().decided() > decided); // and it knows of that caller

        held.release();

        Optional<PermitGrant> overtaking = node.semaphores().tryAcquire(request());
        overtaking.ifPresent(PermitGrant::release);
        Concurrently.get(elsewhere).release();
        Measurement.check(() -> assertThat(overtaking).isEmpty());
    }

    private void awaitWaiting(int callers) {
        await().atMost(SOON).until(() -> other.admin().find(name).orElseThrow().waiting() == callers);
    }

    @Test
    void anotherInstanceGetsThePermitWithinTheReuseTime() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger uses = new AtomicInteger();
        Future<?> busy = Concurrently.async(() -> {
            while (!stop.get()) {
                try (PermitGrant grant = brief.semaphores().acquire(request().withWaitTime(SOON))) {
                    uses.incrementAndGet();
                }
            }
            return null;
        });
        try {
            await().atMost(SOON).until(() -> uses.get() > 100); // the permit is kept and used again
            try (PermitGrant grant = other.semaphores().acquire(request().withWaitTime(SOON))) {
                assertThat(grant.isHeld()).isTrue();
            }
        } finally {
            stop.set(true);
        }

        Concurrently.get(busy);
    }

    /** A caller that waits. */
    private Future<PermitGrant> waiter(AcquireRequest request) {
        long before = WaitingCallers.count();
        Future<PermitGrant> waiting =
                Concurrently.async(() -> node.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(60))));
        await().atMost(SOON).until(() -> WaitingCallers.count() > before);
        return waiting;
    }

    private static void assertNoStatement(Node on) {
        assertThat(on.gate().statements()).noneMatch(statement -> statement.contains("permit"));
    }
}
