package io.dbsemaphore.engine.reuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.batch.WaitingCallers;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Permits that are released and acquired again in the same JVM without a transaction. */
class ReuseIntegrationTests {

    /** Long, so that a loaded machine does not end it between two calls of a test. */
    private static final Duration REUSE = Duration.ofSeconds(10);

    private static final Duration BRIEF = Duration.ofMillis(100);

    /** More than the idle time of {@link #REUSE}, and less than that itself. */
    private static final Duration BEFORE_REUSE_ENDS = Duration.ofSeconds(7);

    private static final Duration SOON = Duration.ofSeconds(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private static Node node;
    private static Node brief;

    private final Node other = cluster.node(0);
    private final String name = cluster.semaphore(1);

    @BeforeAll
    static void startNodes() {
        node = start(REUSE);
        brief = start(BRIEF);
    }

    private static Node start(Duration reuse) {
        return cluster.start(
                cluster.schema().newPool(10),
                TestSettings.defaults()
                        .with(
                                SemaphoreSettings.REUSE,
                                PerSemaphore.all(Duration.ZERO).with("s*", reuse)));
    }

    @BeforeEach
    void forgetStatements() {
        node.gate().clear();
    }

    @Test
    void aReleasedPermitIsReusedWithoutAStatement() {
        acquire(node).release();
        node.gate().clear();
        List<Long> tokens = new ArrayList<>();

        for (int i = 0; i < 100; i++) {
            try (PermitGrant grant = acquire(node)) {
                assertThat(grant.reused()).isTrue();
                assertThat(grant.isHeld()).isTrue();
                assertThat(grant.permits()).containsExactly(Map.entry(name, 1));
                tokens.add(grant.fencingToken());
            }
        }

        assertNoStatement();
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @Test
    void anIdlePermitGoesBack() {
        acquire(node).release();

        await().atMost(BEFORE_REUSE_ENDS)
                .untilAsserted(() -> assertThat(cluster.held(name)).isZero());
        try (PermitGrant grant = acquire(other)) {
            assertThat(grant.reused()).isFalse();
        }
    }

    /** It goes back a moment before it could be used, and the caller must not be refused for that. */
    @Test
    void aCallerThatDoesNotWaitIsNotRefusedForAnIdlePermitThatGoesBack() {
        int reused = 0;
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        while (System.nanoTime() < end) {
            try (PermitGrant grant = acquire(brief)) {
                reused += grant.reused() ? 1 : 0;
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

    @Test
    void anIdlePermitIsNotInTheWayOfACallerThatCannotUseIt() {
        acquire(node).release();
        try (PermitGrant exclusive = node.semaphores().acquire(request().exclusive())) {
            assertThat(exclusive.reused()).isFalse();
        }
        acquire(node).release();
        try (PermitGrant longer = node.semaphores().acquire(request().withTtl(Duration.ofMinutes(7)))) {
            assertThat(longer.reused()).isFalse();
        }
        acquire(node).release();
        try (PermitGrant ofAnId = node.semaphores().acquire(request().withExternalId(cluster.externalId()))) {
            assertThat(ofAnId.reused()).isFalse();
        }
        acquire(node).release();
        try (PermitGrant notKeptAlive = node.semaphores().acquire(AcquireRequest.of(name))) {
            assertThat(notKeptAlive.reused()).isFalse();
        }
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
            assertThat(held.reused()).isTrue();
        }

        assertThat(node.gate().count("insert into permit_request")).isZero();
        assertThat(cluster.held(name)).isEqualTo(1);
        held.release();
    }

    @Test
    void anAsynchronousCallerIsServedToo() throws Exception {
        PermitGrant held = acquire(node);
        CompletableFuture<PermitGrant> waiting =
                node.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        assertThat(waiting).isNotDone();
        held.release();

        PermitGrant handedOver = Concurrently.get(waiting);
        assertThat(handedOver.reused()).isTrue();
        handedOver.release();
        PermitGrant reused = Concurrently.get(node.semaphores().acquireAsync(request()));
        assertThat(reused.reused()).isTrue();
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

    @Test
    void aReleasedPermitGoesToAnotherInstanceWhoseCallerCameFirst() throws Exception {
        PermitGrant held = acquire(node);
        CompletableFuture<PermitGrant> elsewhere =
                other.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        awaitWaiting(1);
        CompletableFuture<PermitGrant> here =
                node.semaphores().acquireAsync(request().withWaitTime(Duration.ofSeconds(60)));
        awaitWaiting(2);

        held.release();

        await().atMost(SOON).until(() -> elsewhere.isDone() || here.isDone());
        assertThat(here).isNotDone();
        Concurrently.get(elsewhere).release();
        Concurrently.get(here).release();
    }

    /** Nor is it kept where no caller of this instance waits, to whom it could be handed. */
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

        assertThat(node.semaphores().tryAcquire(request())).isEmpty();
        Concurrently.get(elsewhere).release();
    }

    private void awaitWaiting(int callers) {
        await().atMost(SOON).until(() -> other.admin().find(name).orElseThrow().waiting() == callers);
    }

    @Test
    void anotherInstanceGetsThePermitWithinTheReuseTime() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Future<Integer> busy = Concurrently.async(() -> {
            int uses = 0;
            while (!stop.get()) {
                try (PermitGrant grant = brief.semaphores().acquire(request().withWaitTime(SOON))) {
                    uses++;
                }
            }
            return uses;
        });
        try (PermitGrant grant = other.semaphores().acquire(request().withWaitTime(SOON))) {
            assertThat(grant.isHeld()).isTrue();
        } finally {
            stop.set(true);
        }

        assertThat(Concurrently.get(busy)).isPositive();
    }

    @Test
    void aUseThatHasEndedAffectsNoLaterOne() {
        PermitGrant first = acquire(node);
        first.release();
        PermitGrant second = acquire(node);
        assertThat(second.reused()).isTrue();

        assertThat(first.isHeld()).isFalse();
        assertThat(first.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(node.semaphores().release(first.externalId())).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(node.semaphores().find(first.externalId())).isEmpty();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> first.renew(Duration.ofMinutes(1)));
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> node.semaphores().renew(first.externalId(), Duration.ofMinutes(1)));

        assertThat(second.isHeld()).isTrue();
        assertThat(node.semaphores().find(second.externalId())).containsSame(second);
        assertThat(cluster.held(name)).isEqualTo(1);
        assertThat(node.semaphores().release(second.externalId())).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(second.isHeld()).isFalse();
    }

    @Test
    void aUseThatWasRenewedIsReleasedInTheDatabase() {
        acquire(node).release();
        PermitGrant grant = acquire(node);
        grant.renew(Duration.ofMinutes(20));

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void requireHeldPassesForTheCurrentUseOnly() {
        PermitGrant first = acquire(node);
        first.release();
        PermitGrant second = acquire(node);

        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(first));
        requireHeld(second);

        assertThat(second.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).as("a checked use ends in the database").isZero();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(second));
    }

    @Test
    void requireHeldFailsForAnOldUseThatAnApplicationHasWrapped() {
        PermitGrant first = acquire(node);
        PermitGrant wrapped = wrapped(first);
        first.release();
        PermitGrant second = acquire(node);

        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(wrapped));
        requireHeld(wrapped(second));
        second.release();
    }

    /** Another use must not begin while a transaction that checked this one can still commit. */
    @Test
    void theReleaseOfACheckedUseWaitsForTheTransactionThatCheckedIt() throws Exception {
        acquire(node).release();
        PermitGrant grant = acquire(node);
        Future<ReleaseOutcome> release = node.transaction().execute(status -> {
            node.semaphores().requireHeld(grant);
            Future<ReleaseOutcome> released = Concurrently.async(grant::release);
            Concurrently.assertWaits(released);
            assertThat(node.semaphores().tryAcquire(request())).isEmpty();
            return released;
        });

        assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.RELEASED);
        acquire(node).release();
    }

    @Test
    void aForcedReleaseEndsTheUse() {
        PermitGrant first = acquire(brief);
        String requestId = first.externalId();
        first.release();
        PermitGrant grant = acquire(brief);
        assertThat(other.admin().holders(name))
                .singleElement()
                .satisfies(holder -> assertThat(holder.externalId()).isEqualTo(requestId));

        other.admin().forceRelease(requestId, "operator", "test");

        PermitGrant taken = acquire(other);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(grant));
        assertThat(grant.isHeld()).isFalse();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(brief.semaphores().tryAcquire(request())).isEmpty();
        taken.release();
    }

    @Test
    void aForcedReleaseOfAReusedPermitIsEffectiveWithinTheReuseTime() throws Exception {
        Optional<PermitGrant> taken =
                useDuring(1, () -> await().until(this::forceReleaseAndAcquire, Optional::isPresent));

        assertThat(brief.semaphores().tryAcquire(request())).isEmpty();
        taken.ifPresent(PermitGrant::release);
    }

    /** The holder may be another one by now: then there is nothing to be released, and perhaps nothing available. */
    private Optional<PermitGrant> forceReleaseAndAcquire() {
        other.admin()
                .holders(name)
                .forEach(holder -> other.admin().forceRelease(holder.externalId(), "operator", "test"));
        return other.semaphores().tryAcquire(request());
    }

    @Test
    void aPauseIsEffectiveWithinTheReuseTime() throws Exception {
        useDuring(1, () -> setCapacity(0));

        assertThat(brief.semaphores().tryAcquire(request())).isEmpty();
        await().atMost(SOON).untilAsserted(() -> assertThat(cluster.held(name)).isZero());
    }

    @Test
    void aLoweredCapacityIsEffectiveWithinTheReuseTime() throws Exception {
        setCapacity(3);
        useDuring(3, () -> setCapacity(1));

        List<PermitGrant> granted = acquireUpTo(3);
        assertThat(granted).hasSizeLessThanOrEqualTo(1);
        granted.forEach(PermitGrant::release);
        await().atMost(SOON).untilAsserted(() -> assertThat(cluster.held(name)).isZero());
    }

    /**
     * Acquires and releases while the action runs and for the reuse time after it, without a pause: a permit that is idle for
     * longer goes back.
     */
    private <T> T useDuring(int permits, Callable<T> action) throws Exception {
        acquireUpTo(permits).forEach(PermitGrant::release);
        Future<T> done = Concurrently.async(action);
        long end = System.nanoTime() + BRIEF.toNanos();
        while (System.nanoTime() < end) {
            acquireUpTo(permits).forEach(PermitGrant::release);
            if (!done.isDone()) {
                end = System.nanoTime() + BRIEF.toNanos();
            }
        }
        return Concurrently.get(done);
    }

    private int setCapacity(int capacity) {
        other.admin().setCapacity(name, capacity, "operator", "test");
        return capacity;
    }

    private List<PermitGrant> acquireUpTo(int permits) {
        return Stream.generate(() -> brief.semaphores().tryAcquire(request()))
                .limit(permits)
                .flatMap(Optional::stream)
                .toList();
    }

    @Test
    void aStopGivesEverythingBackAndAStartBeginsAnew() {
        SemaphoreEngine engine = new SemaphoreEngine(
                cluster.schema().newPool(5),
                TestSettings.defaults()
                        .with(
                                SemaphoreSettings.REUSE,
                                PerSemaphore.all(Duration.ZERO).with("s*", REUSE)));
        try (engine) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            semaphores.acquire(request()).release();
            assertThat(cluster.held(name)).isEqualTo(1);

            engine.shutDown();

            assertThat(cluster.held(name)).isZero();
            assertThatExceptionOfType(SemaphoreClosedException.class).isThrownBy(() -> semaphores.acquire(request()));
            engine.start();
            try (PermitGrant grant = semaphores.acquire(request())) {
                assertThat(grant.reused()).isFalse();
            }
            assertThat(cluster.held(name)).isEqualTo(1);
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void aStopWaitsForTheWorkUnderAReusedPermit() throws Exception {
        SemaphoreEngine engine = new SemaphoreEngine(
                cluster.schema().newPool(5),
                TestSettings.defaults()
                        .with(
                                SemaphoreSettings.REUSE,
                                PerSemaphore.all(Duration.ZERO).with("s*", REUSE)));
        try (engine) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            semaphores.acquire(request()).release();
            PermitGrant grant = semaphores.acquire(request());
            assertThat(grant.reused()).isTrue();
            Future<?> stop = Concurrently.async(() -> {
                engine.shutDown();
                return true;
            });
            Concurrently.assertWaits(stop);

            assertThat(grant.isHeld()).isTrue();
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);

            Concurrently.get(stop);
            assertThat(cluster.held(name)).isZero();
        }
    }

    /** A caller that waits. */
    private Future<PermitGrant> waiter(AcquireRequest request) {
        long before = WaitingCallers.count();
        Future<PermitGrant> waiting =
                Concurrently.async(() -> node.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(60))));
        await().atMost(SOON).until(() -> WaitingCallers.count() > before);
        return waiting;
    }

    private PermitGrant acquire(Node on) {
        return on.semaphores().acquire(request());
    }

    /** As an application may wrap it. */
    private static PermitGrant wrapped(PermitGrant grant) {
        return (PermitGrant) Proxy.newProxyInstance(
                PermitGrant.class.getClassLoader(),
                new Class<?>[] {PermitGrant.class},
                (proxy, method, arguments) -> method.invoke(grant, arguments));
    }

    private static void requireHeld(PermitGrant grant) {
        node.transaction().executeWithoutResult(status -> node.semaphores().requireHeld(grant));
    }

    private AcquireRequest request() {
        return AcquireRequest.of(name).withKeepAlive(true);
    }

    private static void assertNoStatement() {
        assertThat(node.gate().statements()).noneMatch(statement -> statement.contains("permit"));
    }
}
