package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.config.OnFull;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where as many callers wait as may wait, a further one is refused at once, or the one that has waited longest is. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MaxWaitingIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final AtomicInteger NAMES = new AtomicInteger();

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private static final List<Node> nodes = new ArrayList<>();

    @BeforeAll
    static void start() {
        nodes.clear();
        IntStream.range(0, 3)
                .forEach(i -> nodes.add(cluster.start(cluster.schema().newPool(10), settings())));
    }

    /** So many may wait for {@code none:*}, {@code one:*} and {@code ten:*}; the newest for {@code newest:*} and {@code two-newest:*}. */
    private static SemaphoreSettings settings() {
        return TestSettings.defaults()
                .with(
                        SemaphoreSettings.MAX_WAITING,
                        PerSemaphore.all(Integer.MAX_VALUE)
                                .with("none:*", 0)
                                .with("one:*", 1)
                                .with("ten:*", 10)
                                .with("newest:*", 1)
                                .with("two-newest:*", 2))
                .with(
                        SemaphoreSettings.ON_FULL,
                        PerSemaphore.all(OnFull.KEEP_OLDEST)
                                .with("newest:*", OnFull.KEEP_NEWEST)
                                .with("two-newest:*", OnFull.KEEP_NEWEST));
    }

    /** Debounce: one runs, one waits, the rest is dropped. */
    @Test
    void onlyTheNewestOfACrowdFollowsTheHolder() throws Exception {
        String name = semaphore("newest", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> crowd = crowd(nodes.get(0), name, 100);
        awaitRefused(crowd, 99);

        awaitWaiting(name, 1);
        for (CompletableFuture<PermitGrant> displaced : crowd.subList(0, 99)) {
            assertThat(shortageOf(displaced))
                    .returns(true, PermitShortage::isQueueFull)
                    .returns(true, PermitShortage::displaced);
        }
        held.release();
        Concurrently.get(crowd.get(99)).release();
    }

    @Test
    void aNewerCallerOfAnotherInstanceDisplacesTheFirst() throws Exception {
        String name = semaphore("two-newest", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> callers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            callers.add(begin(nodes.get(i % 3), AcquireRequest.of(name)));
            int some = i;
            await().atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(callers.stream().filter(Future::isDone)).hasSize(Math.max(0, some - 1)));
            awaitWaiting(name, Math.min(2, i + 1));
        }

        for (CompletableFuture<PermitGrant> displaced : callers.subList(0, 3)) {
            assertThat(shortageOf(displaced)).returns(true, PermitShortage::displaced);
        }
        held.release();
        Concurrently.get(callers.get(3)).release();
        Concurrently.get(callers.get(4)).release();
    }

    @Test
    void noMoreCallersOfACrowdWaitThanMay() throws Exception {
        String name = semaphore("ten", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));

        List<CompletableFuture<PermitGrant>> crowd = crowd(nodes.get(0), name, 200);
        awaitRefused(crowd, 190);

        awaitWaiting(name, 10);
        for (CompletableFuture<PermitGrant> refused : crowd.subList(10, 200)) {
            assertThat(shortageOf(refused))
                    .returns(true, PermitShortage::isQueueFull)
                    .returns(10L, PermitShortage::ahead);
        }
        held.release();
        for (CompletableFuture<PermitGrant> first : crowd.subList(0, 10)) {
            Concurrently.get(first).release();
        }
    }

    /** While permits are granted, callers leave the queue and others join it. */
    @Test
    void noMoreWaitWhilePermitsAreGranted() {
        String name = semaphore("ten", 1);
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();

        Concurrently.run(40, WAIT_TIME, caller -> {
            while (System.nanoTime() < end) {
                try (PermitGrant grant = nodes.get(caller % 2)
                        .semaphores()
                        .acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME))) {
                    assertThat(grant.isHeld()).isEqualTo(true);
                    most.accumulateAndGet((int) waiting(name), Math::max);
                } catch (PermitsUnavailableException full) {
                    assertThat(full.shortages()).allMatch(PermitShortage::isQueueFull);
                    refused.incrementAndGet();
                }
            }
        });

        assertThat(refused).hasPositiveValue();
        assertThat(most).hasValueBetween(1, 20);
    }

    @Test
    void saysHowManyWaitAndWhatToDo() {
        String name = semaphore("one", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting = begin(nodes.get(0), AcquireRequest.of(name));
        awaitWaiting(name, 1);

        await("the holders, which a refusal waits for for 100 ms")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThatExceptionOfType(PermitsUnavailableException.class)
                                .isThrownBy(() -> nodes.get(0)
                                        .semaphores()
                                        .execute(AcquireRequest.of(name).withWaitTime(WAIT_TIME), grant -> "work"))
                                .withMessageStartingWith(
                                        "Semaphore '" + name
                                                + "' lets no more callers wait: 1 wait, max-waiting is 1, 1 of 1 held, in the last second longest by ")
                                .withMessageEndingWith(
                                        ". Nothing was acquired; try again later, or raise max-waiting to let more callers wait"));

        held.release();
        waiting.join().release();
    }

    @Measured
    @Test
    void callersOfOtherInstancesCount() throws Exception {
        String name = semaphore("ten", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            waiting.add(begin(nodes.get(i % 3), AcquireRequest.of(name)));
            awaitWaiting(name, i + 1);
        }

        for (Node node : nodes) {
            awaitPolls(node);
            assertThat(refusals(node, AcquireRequest.of(name)))
                    .singleElement()
                    .returns(true, PermitShortage::isQueueFull)
                    .returns(10L, PermitShortage::ahead);
        }

        held.release();
        for (CompletableFuture<PermitGrant> next : waiting) {
            Concurrently.get(next).release();
        }
    }

    /** An instance learns of the others with its next poll or transaction: until then each counts its own callers only. */
    @Test
    void noInstanceHasMoreWaitingCallersEvenIfAllComeAtOnce() throws Exception {
        String name = semaphore("ten", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> all = new ArrayList<>();
        List<Future<List<CompletableFuture<PermitGrant>>>> crowds = nodes.stream()
                .map(node -> Concurrently.async(() -> crowd(node, name, 50)))
                .toList();
        for (Future<List<CompletableFuture<PermitGrant>>> crowd : crowds) {
            awaitRefused(Concurrently.get(crowd), 40);
            all.addAll(crowd.get());
        }

        assertThat(waiting(name)).isBetween(10L, 30L);
        Node waits = nodes.get(someOf(crowds));
        awaitPolls(waits);
        assertThat(shortageOf(begin(waits, AcquireRequest.of(name)))).matches(PermitShortage::isQueueFull);

        held.release();
        for (CompletableFuture<Void> served : all.stream()
                .filter(each -> !each.isCompletedExceptionally())
                .map(each -> each.thenAccept(PermitGrant::release))
                .toList()) {
            Concurrently.get(served);
        }
    }

    /** The index of a crowd of which somebody waits: an instance without waiting callers does not poll. */
    private static int someOf(List<Future<List<CompletableFuture<PermitGrant>>>> crowds) throws Exception {
        int index = 0;
        while (crowds.get(index).get().stream().allMatch(Future::isDone)) {
            index++;
        }
        return index;
    }

    @Test
    void aCallerWhoseWaitTimeIsOverMakesRoom() {
        String name = semaphore("one", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        for (int i = 0; i < 3; i++) {
            assertThat(shortageOf(nodes.get(i)
                            .semaphores()
                            .acquireAsync(AcquireRequest.of(name).withWaitTime(Duration.ofMillis(300)))))
                    .returns(false, PermitShortage::isQueueFull)
                    .returns(0L, PermitShortage::ahead);
            awaitWaiting(name, 0);
        }
        held.release();
    }

    @Test
    void aCancelledCallerMakesRoom() throws Exception {
        String name = semaphore("one", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> first = begin(nodes.get(0), AcquireRequest.of(name));
        awaitWaiting(name, 1);
        assertThat(first.cancel(true)).isEqualTo(true);

        CompletableFuture<PermitGrant> second = begin(nodes.get(0), AcquireRequest.of(name));
        assertThat(shortageOf(begin(nodes.get(0), AcquireRequest.of(name)))).matches(PermitShortage::isQueueFull);

        held.release();
        Concurrently.get(second).release();
    }

    @Measured
    @Test
    void aClosedInstanceMakesRoom() throws Exception {
        String name = semaphore("one", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        try (Node closing = Node.on(cluster.schema(), settings())) {
            CompletableFuture<PermitGrant> unused = begin(closing, AcquireRequest.of(name));
            awaitWaiting(name, 1);
            assertThat(refusals(nodes.get(0), AcquireRequest.of(name)))
                    .singleElement()
                    .matches(PermitShortage::isQueueFull);
        }

        awaitWaiting(name, 0);
        CompletableFuture<PermitGrant> next = begin(nodes.get(0), AcquireRequest.of(name));
        held.release();
        Concurrently.get(next).release();
    }

    @Test
    void withZeroNobodyWaitsButWhatIsAvailableIsGranted() {
        String name = semaphore("none", 2);
        try (Node node = Node.on(cluster.schema(), settings())) {
            node.semaphores().acquire(AcquireRequest.of(name)).release();
            node.gate().clear();
            for (int i = 0; i < 20; i++) {
                PermitGrant held =
                        node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME));
                assertThat(shortageOf(begin(node, AcquireRequest.of(name, 2)))).matches(PermitShortage::isQueueFull);
                node.semaphores()
                        .acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME))
                        .release();
                held.release();
            }
            assertThat(node.gate().count("semaphore_waiter")).isZero();
        }
    }

    /** A caller of many permits does not keep the next one from those that are left, although both come at once. */
    @Test
    void whoMayNotWaitKeepsNothingFromOthers() throws Exception {
        String name = semaphore("none", 2);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        for (int i = 0; i < 50; i++) {
            CompletableFuture<PermitGrant> refused = begin(nodes.get(i % 3), AcquireRequest.of(name, 2));
            Concurrently.get(begin(nodes.get(i % 3), AcquireRequest.of(name))).release();
            assertThat(shortageOf(refused)).matches(PermitShortage::isQueueFull);
        }
        held.release();
    }

    /** Each instance has its own setting, which a restart changes. */
    @Measured
    @Test
    void aChangedSettingCountsForThoseWhoComeThen() throws Exception {
        String name = semaphore("one", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> first = begin(nodes.get(0), AcquireRequest.of(name));
        awaitWaiting(name, 1);
        PerSemaphore<Integer> before = settings().get(SemaphoreSettings.MAX_WAITING);
        SemaphoreSettings two = settings().with(SemaphoreSettings.MAX_WAITING, before.with(name, 2));
        try (Node changed = Node.on(cluster.schema(), two)) {
            CompletableFuture<PermitGrant> second = begin(changed, AcquireRequest.of(name));
            awaitWaiting(name, 2);
            assertThat(refusals(changed, AcquireRequest.of(name)))
                    .singleElement()
                    .returns(2L, PermitShortage::ahead);

            held.release();
            Concurrently.get(first).release();
            Concurrently.get(second).release();
        }
    }

    @Measured
    @Test
    void aCallerOfSeveralSemaphoresIsRefusedIfOneQueueIsFull() throws Exception {
        String bounded = semaphore("one", 1);
        String unbounded = semaphore("any", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(bounded, unbounded));
        CompletableFuture<PermitGrant> first = begin(nodes.get(1), AcquireRequest.of(bounded));
        awaitWaiting(bounded, 1);

        for (Node node : nodes) {
            assertThat(refusals(node, AcquireRequest.of(bounded, unbounded)))
                    .filteredOn(PermitShortage::isQueueFull)
                    .extracting(PermitShortage::name)
                    .containsExactly(bounded);
        }
        assertThat(waiting(unbounded)).isZero();
        CompletableFuture<PermitGrant> other = begin(nodes.get(2), AcquireRequest.of(unbounded));

        held.release();
        Concurrently.get(first).release();
        Concurrently.get(other).release();
    }

    @Measured
    @Test
    void aRepeatedExternalIdWaitsOnlyIfThereIsRoomAndIsAnsweredOnceItIsHeld() throws Exception {
        String name = semaphore("one", 1);
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> first = begin(nodes.get(0), request);
        awaitWaiting(name, 1);

        assertThat(refusals(nodes.get(1), request)).singleElement().matches(PermitShortage::isQueueFull);
        held.release();
        long token = Concurrently.get(first).fencingToken();
        CompletableFuture<PermitGrant> next = begin(nodes.get(0), AcquireRequest.of(name));
        awaitWaiting(name, 1);

        assertThat(nodes.get(1)
                        .semaphores()
                        .acquire(request.withWaitTime(WAIT_TIME))
                        .fencingToken())
                .isEqualTo(token);
        first.join().release();
        Concurrently.get(next).release();
    }

    @Test
    void withoutFairnessEachInstanceCountsItsOwn() throws Exception {
        SemaphoreSettings unfair = settings().with(SemaphoreSettings.FAIR, PerSemaphore.all(false));
        try (Node one = Node.on(cluster.schema(), unfair);
                Node other = Node.on(cluster.schema(), unfair)) {
            String name = semaphore("one", 1);
            PermitGrant held = one.semaphores().acquire(AcquireRequest.of(name));
            List<CompletableFuture<PermitGrant>> waiting = Stream.of(one, other)
                    .map(node -> begin(node, AcquireRequest.of(name)))
                    .toList();

            for (Node node : List.of(one, other)) {
                assertThat(shortageOf(begin(node, AcquireRequest.of(name))))
                        .returns(true, PermitShortage::isQueueFull)
                        .returns(1L, PermitShortage::ahead);
            }

            held.release();
            for (CompletableFuture<PermitGrant> next : waiting) {
                next.thenAccept(PermitGrant::release).join();
            }
        }
    }

    @Test
    void withReuseAnIdlePermitIsGrantedAndTheQueueHasItsLimit() throws Exception {
        String name = semaphore("one", 1);
        String none = semaphore("none", 1);
        try (Node own = Node.on(
                cluster.schema(), settings().with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ofSeconds(5))))) {
            AcquireRequest request = AcquireRequest.of(name).withKeepAlive(true);
            PermitGrant held = own.semaphores().acquire(request);
            CompletableFuture<PermitGrant> first = begin(own, request);
            awaitWaiting(name, 1);
            assertThat(shortageOf(begin(own, request))).matches(PermitShortage::isQueueFull);
            held.release();
            assertThat(Concurrently.get(first).isReused()).isEqualTo(true);
            first.join().release();

            AcquireRequest alone = AcquireRequest.of(none).withKeepAlive(true).withWaitTime(WAIT_TIME);
            own.semaphores().acquire(alone).release();
            own.semaphores().acquire(alone.withTtl(Duration.ofMinutes(7))).release(); // cannot use the idle permit
            try (PermitGrant reused = own.semaphores().acquire(alone.withTtl(Duration.ofMinutes(7)))) {
                assertThat(reused.isReused()).isEqualTo(true);
                assertThat(shortageOf(begin(own, alone))).matches(PermitShortage::isQueueFull);
            }
        }
    }

    @Measured
    @Test
    void tellsHowManyStoodAhead() throws Exception {
        String name = semaphore("any", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> waiting = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            waiting.add(begin(nodes.get(i < 20 ? 0 : 1), AcquireRequest.of(name)));
            awaitWaiting(name, i + 1);
        }
        AcquireRequest brief = AcquireRequest.of(name).withWaitTime(Duration.ofMillis(500));

        PermitShortage inTheFirst = shortageOf(nodes.get(0).semaphores().acquireAsync(brief));
        PermitShortage inTheThird = shortageOf(nodes.get(2).semaphores().acquireAsync(brief));
        Throwable first =
                catchThrowable(() -> nodes.get(1).semaphores().acquire(brief.withHeadStart(Duration.ofMinutes(1))));
        Throwable last = catchThrowable(() -> nodes.get(1).semaphores().acquire(brief));

        waiting.forEach(each -> each.cancel(true));
        held.release();
        assertThat(inTheFirst.isQueueFull()).isFalse();
        assertThat(first).isInstanceOf(PermitsUnavailableException.class).hasMessageNotContaining("ahead");
        assertThat(last).isInstanceOf(PermitsUnavailableException.class);
        Measurement.check(() -> {
            assertThat(inTheFirst.ahead()).as("20 here, 5 elsewhere").isEqualTo(25);
            assertThat(inTheThird.ahead())
                    .as("16 of the 20 in one instance are known, and 5 in another")
                    .isEqualTo(21);
            assertThat(last).hasMessageContaining(", at least 21 ahead in the queue");
        });
    }

    private static String semaphore(String prefix, int capacity) {
        String name = prefix + ":" + NAMES.incrementAndGet();
        nodes.get(0).admin().create(name, capacity);
        return name;
    }

    private static CompletableFuture<PermitGrant> begin(Node node, AcquireRequest request) {
        return node.semaphores().acquireAsync(request.withWaitTime(WAIT_TIME));
    }

    private static List<CompletableFuture<PermitGrant>> crowd(Node node, String name, int size) {
        return Stream.generate(() -> begin(node, AcquireRequest.of(name)))
                .limit(size)
                .toList();
    }

    private static void awaitRefused(List<CompletableFuture<PermitGrant>> callers, int count) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(callers)
                        .filteredOn(CompletableFuture::isCompletedExceptionally)
                        .hasSizeGreaterThanOrEqualTo(count));
    }

    private static List<PermitShortage> shortagesOf(CompletableFuture<PermitGrant> refused) {
        try {
            PermitGrant grant = Concurrently.get(refused);
            throw new AssertionError("Not refused: " + grant);
        } catch (ExecutionException failure) {
            assertThat(failure).hasCauseInstanceOf(PermitsUnavailableException.class);
            return ((PermitsUnavailableException) failure.getCause()).shortages();
        } catch (Exception late) {
            throw new AssertionError("Not refused at once", late);
        }
    }

    /** Of a caller that is refused at once. It waits if its instance does not know of the others: a record is valid for a second. */
    private static List<PermitShortage> refusals(Node node, AcquireRequest request) throws Exception {
        CompletableFuture<PermitGrant> caller = begin(node, request);
        try {
            Concurrently.get(caller.handle((grant, refused) -> refused), Duration.ofSeconds(8));
        } catch (TimeoutException waits) {
            caller.cancel(true);
            throw Measurement.late("Not refused, as if nobody waited in another instance: " + request);
        }
        return shortagesOf(caller);
    }

    private static PermitShortage shortageOf(CompletableFuture<PermitGrant> refused) {
        List<PermitShortage> shortages = shortagesOf(refused);
        assertThat(shortages).hasSize(1);
        return shortages.get(0);
    }

    /** Until it has read who waits in other instances. */
    private static void awaitPolls(Node node) {
        node.gate().clear();
        await().atMost(SOON).until(() -> node.gate().count("from semaphore_waiter w") > 1);
    }

    private static void awaitWaiting(String name, long count) {
        await().atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> waiting(name) == count);
    }

    private static long waiting(String name) {
        return nodes.get(0).admin().find(name).orElseThrow().waiting();
    }
}
