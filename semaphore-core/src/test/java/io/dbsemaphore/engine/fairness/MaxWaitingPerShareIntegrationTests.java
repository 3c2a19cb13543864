package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
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
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where as many callers with a share wait as may, a further one is refused, or the first of that share is; other shares are not affected. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MaxWaitingPerShareIntegrationTests {

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

    /** So many may wait with one share; the newest for {@code newest:*} and {@code two-newest:*}. */
    private static SemaphoreSettings settings() {
        return TestSettings.defaults()
                .with(
                        SemaphoreSettings.MAX_WAITING_PER_SHARE,
                        PerSemaphore.all(Integer.MAX_VALUE)
                                .with("none:*", 0)
                                .with("one:*", 1)
                                .with("three:*", 3)
                                .with("forty:*", 40)
                                .with("newest:*", 1)
                                .with("both-newest:*", 1)
                                .with("two-newest:*", 2))
                .with(
                        SemaphoreSettings.MAX_WAITING,
                        PerSemaphore.all(Integer.MAX_VALUE)
                                .with("three:*", 20)
                                .with("nobody:*", 0)
                                .with("both-newest:*", 2))
                .with(
                        SemaphoreSettings.ON_FULL,
                        PerSemaphore.all(OnFull.KEEP_OLDEST)
                                .with("newest:*", OnFull.KEEP_NEWEST)
                                .with("both-newest:*", OnFull.KEEP_NEWEST)
                                .with("two-newest:*", OnFull.KEEP_NEWEST));
    }

    @Test
    void noMoreCallersOfACrowdWaitThanMayAndThoseOfOtherSharesDo() throws Exception {
        String name = semaphore("three", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));

        List<CompletableFuture<PermitGrant>> crowd = crowd(nodes.get(0), name, "acme/batch", 100);
        awaitRefused(crowd, 97);

        for (CompletableFuture<PermitGrant> refused : crowd.subList(3, 100)) {
            assertThat(shortageOf(refused))
                    .returns(true, PermitShortage::isQueueFull)
                    .returns(false, PermitShortage::displaced)
                    .returns(3L, PermitShortage::ahead)
                    .returns(OptionalInt.of(3), PermitShortage::maxWaiting)
                    .returns(Optional.of("acme/batch"), PermitShortage::fullShare);
        }
        assertThat(failureOf(crowd.get(99)))
                .hasMessageStartingWith(
                        "Semaphore '" + name + "' lets no more callers with share 'acme/batch' wait: 3 wait,"
                                + " max-waiting-per-share is 3, 1 of 1 held")
                .hasMessageEndingWith(
                        ". Nothing was acquired; try again later, or raise max-waiting-per-share to let more callers wait");

        List<CompletableFuture<PermitGrant>> others = new ArrayList<>(crowd(nodes.get(0), name, "acme/other", 3));
        others.addAll(crowd(nodes.get(0), name, "beta", 3));
        others.addAll(crowd(nodes.get(0), name, null, 11));
        awaitWaiting(name, 20);
        assertThat(shortageOf(begin(nodes.get(0), name, "gamma")))
                .as("no more than 20 of all shares")
                .returns(20L, PermitShortage::ahead)
                .returns(Optional.empty(), PermitShortage::fullShare);

        held.release();
        others.addAll(crowd.subList(0, 3));
        for (CompletableFuture<PermitGrant> waiting : others) {
            waiting.thenAccept(PermitGrant::release);
        }
        for (CompletableFuture<PermitGrant> waiting : others) {
            Concurrently.get(waiting);
        }
    }

    /** Of the 30 callers of one instance, others know the places of 16. */
    @Test
    void thoseOfOtherInstancesCountAlsoWhereTheirPlacesAreNotKnown() throws Exception {
        String name = semaphore("forty", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> callers = new ArrayList<>(crowd(nodes.get(0), name, "acme", 30));
        callers.addAll(crowd(nodes.get(0), name, "beta", 40));
        awaitWaiting(name, 70);
        callers.addAll(crowd(nodes.get(1), name, "acme", 10));
        awaitWaiting(name, 80);

        for (Node node : nodes) {
            await().atMost(SOON).untilAsserted(() -> {
                CompletableFuture<PermitGrant> further = begin(node, name, "acme");
                try {
                    assertThat(shortageOf(further))
                            .returns(40L, PermitShortage::ahead)
                            .returns(Optional.of("acme"), PermitShortage::fullShare);
                } finally {
                    further.cancel(true);
                }
            });
        }

        callers.get(0).cancel(true);
        awaitWaiting(name, 79);
        CompletableFuture<PermitGrant> next = begin(nodes.get(0), name, "acme");
        awaitWaiting(name, 80);
        callers.forEach(each -> each.cancel(true));
        held.release();
        Concurrently.get(next).release();
    }

    /** Of 80 shares, the record of the instance names 64. */
    @Test
    void ofManySharesEachHasItsLimit() throws Exception {
        String name = semaphore("one", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> first = begin(name, 80);
        awaitWaiting(name, 80);

        for (CompletableFuture<PermitGrant> second : begin(name, 80)) {
            assertThat(shortageOf(second)).returns(1L, PermitShortage::ahead);
        }

        first.forEach(each -> each.cancel(true));
        held.release();
    }

    private static List<CompletableFuture<PermitGrant>> begin(String name, int shares) {
        return IntStream.range(0, shares)
                .mapToObj(i -> begin(nodes.get(0), name, "tenant-" + i))
                .toList();
    }

    /** Debounce by key: of each share one runs or waits, and the rest is dropped. */
    @Test
    void onlyTheNewestOfEachShareFollowsTheHolder() throws Exception {
        String name = semaphore("newest", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> acme = new ArrayList<>();
        List<CompletableFuture<PermitGrant>> beta = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            acme.add(begin(nodes.get(0), name, "acme"));
            beta.add(begin(nodes.get(0), name, "beta"));
        }
        awaitRefused(acme, 49);
        awaitRefused(beta, 49);

        awaitWaiting(name, 2);
        for (CompletableFuture<PermitGrant> displaced : acme.subList(0, 49)) {
            assertThat(shortageOf(displaced))
                    .returns(true, PermitShortage::displaced)
                    .returns(Optional.of("acme"), PermitShortage::fullShare);
        }
        assertThat(failureOf(beta.get(0)))
                .hasMessageStartingWith(
                        "A newer caller with share 'beta' took the place of this one in the queue of semaphore '" + name
                                + "' (on-full=keep-newest): max-waiting-per-share is 1, 1 of 1 held");
        held.release();
        Concurrently.get(acme.get(49)).release();
        Concurrently.get(beta.get(49)).release();
    }

    @Test
    void aNewerCallerOfAnotherInstanceDisplacesTheFirstOfItsShareOnly() throws Exception {
        String name = semaphore("two-newest", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> other = begin(nodes.get(0), name, "beta");
        awaitWaiting(name, 1);
        List<CompletableFuture<PermitGrant>> callers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            callers.add(begin(nodes.get(i % 3), name, "acme"));
            int some = i;
            await().atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(callers.stream().filter(Future::isDone)).hasSize(Math.max(0, some - 1)));
            awaitWaiting(name, 1 + Math.min(2, i + 1));
        }

        for (CompletableFuture<PermitGrant> displaced : callers.subList(0, 3)) {
            assertThat(shortageOf(displaced)).returns(true, PermitShortage::displaced);
        }
        held.release();
        for (CompletableFuture<PermitGrant> waiting : List.of(other, callers.get(3), callers.get(4))) {
            waiting.thenAccept(PermitGrant::release).get();
        }
    }

    @Test
    void aNewerCallerDisplacesTheFirstOfItsShareBeforeTheFirstOfAll() throws Exception {
        String name = semaphore("both-newest", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> first = begin(nodes.get(0), name, "beta");
        CompletableFuture<PermitGrant> second = begin(nodes.get(0), name, "acme");
        awaitWaiting(name, 2);

        CompletableFuture<PermitGrant> newest = begin(nodes.get(0), name, "acme");

        assertThat(shortageOf(second)).returns(Optional.of("acme"), PermitShortage::fullShare);
        held.release();
        Concurrently.get(first).release();
        Concurrently.get(newest).release();
    }

    @Test
    void withZeroNobodyWithAShareWaits() throws Exception {
        String name = semaphore("none", 1);
        PermitGrant held = nodes.get(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> without = begin(nodes.get(0), name, null);
        awaitWaiting(name, 1);

        assertThat(shortageOf(begin(nodes.get(0), name, "acme"))).returns(0L, PermitShortage::ahead);

        held.release();
        Concurrently.get(without).release();
        Concurrently.get(begin(nodes.get(0), name, "acme")).release();
    }

    @Test
    void aRefusalByBothLimitsNamesBoth() {
        List<String> names = List.of(semaphore("none", 1), semaphore("nobody", 1));
        List<PermitGrant> held = names.stream()
                .map(name -> nodes.get(0).semaphores().acquire(AcquireRequest.of(name)))
                .toList();

        AcquireRequest request = AcquireRequest.of(names.toArray(String[]::new))
                .withWaitTime(WAIT_TIME)
                .withShare("acme");
        assertThat(failureOf(nodes.get(0).semaphores().acquireAsync(request)))
                .hasMessageEndingWith(
                        "; try again later, or raise max-waiting and max-waiting-per-share to let more callers wait");

        held.forEach(PermitGrant::release);
    }

    private static String semaphore(String prefix, int capacity) {
        String name = prefix + ":" + NAMES.incrementAndGet();
        nodes.get(0).admin().create(name, capacity);
        return name;
    }

    private static CompletableFuture<PermitGrant> begin(Node node, String name, @Nullable String share) {
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(WAIT_TIME);
        return node.semaphores().acquireAsync(share == null ? request : request.withShare(share));
    }

    private static List<CompletableFuture<PermitGrant>> crowd(
            Node node, String name, @Nullable String share, int size) {
        return Stream.generate(() -> begin(node, name, share)).limit(size).toList();
    }

    private static void awaitRefused(List<CompletableFuture<PermitGrant>> callers, int count) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(callers)
                        .filteredOn(CompletableFuture::isCompletedExceptionally)
                        .hasSizeGreaterThanOrEqualTo(count));
    }

    private static PermitsUnavailableException failureOf(CompletableFuture<PermitGrant> refused) {
        try {
            PermitGrant grant = Concurrently.get(refused, Duration.ofSeconds(5));
            throw new AssertionError("Not refused: " + grant);
        } catch (ExecutionException failure) {
            assertThat(failure).hasCauseInstanceOf(PermitsUnavailableException.class);
            return (PermitsUnavailableException) failure.getCause();
        } catch (Exception late) {
            throw new AssertionError("Not refused at once", late);
        }
    }

    private static PermitShortage shortageOf(CompletableFuture<PermitGrant> refused) {
        List<PermitShortage> shortages = failureOf(refused).shortages();
        assertThat(shortages).hasSize(1);
        return shortages.get(0);
    }

    private static void awaitWaiting(String name, long count) {
        await().atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> nodes.get(0).admin().find(name).orElseThrow().waiting() == count);
    }
}
