package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A caller that waits can be told how many are ahead of it, and about how long it will wait. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PositionIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(3);

    private final String name = cluster.semaphore(1);

    @Test
    void isThatAmongTheCallersOfAllInstances() throws Exception {
        PermitGrant held = hold();
        List<AcquireFuture> callers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            callers.add(begin(cluster.node(i % 3), AcquireRequest.of(name)));
            awaitWaiting(i + 1);
        }

        for (int served = 0; served < callers.size(); served++) {
            for (int i = served; i < callers.size(); i++) {
                awaitPosition(callers.get(i), i - served, false);
            }
            held.release();
            held = Concurrently.get(callers.get(served));
            assertThat(callers.get(served).positions()).isEmpty();
        }
        held.release();
    }

    @Test
    void isALowerBoundBehindManyCallersOfAnotherInstance() throws Exception {
        PermitGrant held = hold();
        List<AcquireFuture> many = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            many.add(begin(cluster.node(0), AcquireRequest.of(name)));
        }
        awaitWaiting(20);
        AcquireFuture last = begin(cluster.node(1), AcquireRequest.of(name));

        awaitPosition(last, 16, true);
        many.get(0).cancel(true);
        many.get(1).cancel(true);
        many.get(2).cancel(true);
        many.get(3).cancel(true);
        awaitPosition(last, 16, false);
        held.release();
        for (AcquireFuture each : many.subList(4, 20)) {
            Concurrently.get(each).release();
        }
        Concurrently.get(last).release();
    }

    @Test
    void isToldForEachSemaphoreOfARequest() throws Exception {
        PermitGrant held = hold();
        String other = cluster.semaphore(1);
        AcquireFuture first = begin(cluster.node(0), AcquireRequest.of(name));
        awaitWaiting(1);
        AcquireFuture both = begin(cluster.node(0), AcquireRequest.of(name, other));

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(both.positions())
                        .extracting(QueuePosition::name, QueuePosition::ahead)
                        .containsExactly(Stream.of(tuple(name, 1L), tuple(other, 0L))
                                .sorted(Comparator.comparing(
                                        each -> (String) each.toList().get(0)))
                                .toArray(Tuple[]::new)));

        held.release();
        Concurrently.get(first).release();
        Concurrently.get(both).release();
    }

    /** The caller is told about once a second, and not again after it has been served. */
    @Test
    void isToldToAListenerWheneverItChanges() throws Exception {
        PermitGrant held = hold();
        AcquireFuture first = begin(cluster.node(0), AcquireRequest.of(name));
        awaitWaiting(1);
        List<Long> told = new CopyOnWriteArrayList<>();
        List<String> threads = new CopyOnWriteArrayList<>();
        Future<PermitGrant> second = Concurrently.async(() -> cluster.node(1)
                .semaphores()
                .acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME).withWaitListener(positions -> {
                    threads.add(Thread.currentThread().getName());
                    told.add(positions.get(0).ahead());
                    throw new IllegalStateException("a fault of the listener");
                })));

        await().atMost(SOON).until(() -> told.contains(1L));
        held.release();
        held = Concurrently.get(first);
        await().atMost(SOON).until(() -> told.contains(0L));
        held.release();
        Concurrently.get(second).release();

        assertThat(told).containsSubsequence(1L, 0L).doesNotHaveDuplicates();
        assertThat(threads).allMatch(thread -> thread.startsWith("semaphore-application-"));
    }

    @Test
    @Measured
    void theExpectedWaitIsThatOfTheGrantsBefore() throws Exception {
        PermitGrant held = hold();
        List<AcquireFuture> callers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            callers.add(begin(cluster.node(0), AcquireRequest.of(name)));
        }
        awaitWaiting(12);
        assertThat(callers.get(11).positions())
                .allMatch(position -> position.expectedWait().isEmpty());
        for (int i = 0; i < 6; i++) {
            hold(Duration.ofMillis(200));
            held.release();
            held = Concurrently.get(callers.get(i));
        }

        QueuePosition last = callers.get(11).positions().get(0);
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> cluster.node(0).semaphores().acquire(AcquireRequest.of(name)))
                .satisfies(refused -> assertThat(refused.shortages())
                        .singleElement()
                        .extracting(PermitShortage::expectedWait)
                        .satisfies(expected -> assertThat(expected).isNotEmpty()));
        for (AcquireFuture each : callers.subList(6, 12)) {
            each.cancel(true);
        }
        held.release();

        Measurement.check(() -> assertThat(last.expectedWait())
                .hasValueSatisfying(expected -> assertThat(expected)
                        .isBetween(Duration.ofMillis(200 * 6 / 2), Duration.ofMillis(200 * 6 * 3))));
    }

    @Test
    void ofAllCallersIsKnownToTheAdmin() throws Exception {
        PermitGrant held = hold();
        List<AcquireFuture> callers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            callers.add(begin(cluster.node(i % 3), AcquireRequest.of(name)));
            awaitWaiting(i + 1);
        }
        callers.add(begin(cluster.node(1), AcquireRequest.of(name).exclusive().withHeadStart(Duration.ofMinutes(2))));
        awaitWaiting(5);

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(cluster.node(2).admin().waitingCallers(name, 100))
                        .extracting(WaitingCaller::ahead, WaitingCaller::permits, WaitingCaller::exclusive)
                        .containsExactly(
                                tuple(0L, 0, true),
                                tuple(1L, 1, false),
                                tuple(2L, 1, false),
                                tuple(3L, 1, false),
                                tuple(4L, 1, false)));
        List<WaitingCaller> listed = cluster.node(2).admin().waitingCallers(name, 100);
        assertThat(listed.get(0).headStart()).contains(Duration.ofMinutes(2));
        assertThat(listed.subList(1, 5))
                .allMatch(caller -> caller.headStart().isEmpty())
                .isSortedAccordingTo(Comparator.comparing(WaitingCaller::since));
        assertThat(listed).noneMatch(WaitingCaller::isLowerBound);
        assertThat(listed.get(1).instance())
                .isEqualTo(listed.get(4).instance())
                .isNotEqualTo(listed.get(2).instance());

        callers.forEach(caller -> caller.cancel(true));
        held.release();
        assertThat(cluster.node(2).admin().waitingCallers(cluster.semaphore(1), 100))
                .isEmpty();
    }

    /**
     * Among the first 16 of its instance, a caller is told how many grants come before its own, at most one more or fewer. Callers come and
     * are served all the time.
     */
    @Test
    @Measured
    void isThatOfTheGrantsThatFollow() throws Exception {
        Random random = new Random(3);
        Map<AcquireFuture, List<Told>> told = new LinkedHashMap<>();
        List<AcquireFuture> waiting = new ArrayList<>();
        PermitGrant held = hold();
        long token = held.fencingToken();
        Map<AcquireFuture, Long> tokens = new HashMap<>();
        List<Integer> apart = new ArrayList<>();
        for (int round = 0; round < 60; round++) {
            while (waiting.size() < 24) {
                AcquireFuture caller = begin(cluster.node(random.nextInt(3)), AcquireRequest.of(name));
                waiting.add(caller);
                awaitWaiting(waiting.size());
            }
            hold(Duration.ofMillis(random.nextInt(60)));
            for (AcquireFuture caller : waiting) {
                for (QueuePosition position : caller.positions()) {
                    if (!position.isLowerBound() && position.ahead() < 16) {
                        told.computeIfAbsent(caller, added -> new ArrayList<>()).add(new Told(token, position.ahead()));
                    }
                }
            }
            held.release();
            AcquireFuture next = awaitAny(waiting);
            held = next.join();
            token = held.fencingToken();
            tokens.put(next, token);
            waiting.remove(next);
        }
        List<Long> order = tokens.values().stream().sorted().toList();
        told.forEach((caller, positions) -> {
            Long own = tokens.get(caller);
            if (own != null) {
                positions.forEach(each -> apart.add((int) Math.abs(order.stream()
                                .filter(other -> other > each.token() && other < own)
                                .count()
                        - each.ahead())));
            }
        });
        waiting.forEach(caller -> caller.cancel(true));
        held.release();

        assertThat(apart).hasSizeGreaterThanOrEqualTo(300);
        Measurement.check(
                () -> assertThat(apart.stream().filter(each -> each > 1).count())
                        .as("of %d positions", apart.size())
                        .isLessThanOrEqualTo(apart.size() / 100));
    }

    /**
     * What a caller was told.
     *
     * @param token that of the last grant before
     */
    private record Told(long token, long ahead) {}

    private static AcquireFuture awaitAny(List<AcquireFuture> waiting) {
        return await().atMost(SOON)
                .pollInterval(Duration.ofMillis(5))
                .until(
                        () -> waiting.stream()
                                .filter(AcquireFuture::isDone)
                                .findFirst()
                                .orElse(null),
                        Objects::nonNull);
    }

    @Test
    void isThatOfTheTurnsWhereCallersHaveShares() throws Exception {
        PermitGrant held = hold();
        List<AcquireFuture> callers = new ArrayList<>();
        for (String share : List.of("a", "a", "a", "b", "c/x")) {
            callers.add(begin(
                    cluster.node(callers.size() % 3), AcquireRequest.of(name).withShare(share)));
            awaitWaiting(callers.size());
        }
        List<Integer> turns = List.of(0, 3, 4, 1, 2);

        for (int served = 0; served < turns.size(); served++) {
            for (int i = served; i < turns.size(); i++) {
                awaitPosition(callers.get(turns.get(i)), i - served, false);
            }
            held.release();
            held = Concurrently.get(callers.get(turns.get(served)));
        }
        held.release();
    }

    private static void hold(Duration time) {
        long begun = System.nanoTime();
        await().pollInterval(Duration.ofMillis(5)).until(() -> System.nanoTime() - begun > time.toNanos());
    }

    private PermitGrant hold() {
        return cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
    }

    private static AcquireFuture begin(Node node, AcquireRequest request) {
        return node.semaphores().acquireAsync(request.withWaitTime(WAIT_TIME));
    }

    private void awaitPosition(AcquireFuture caller, long ahead, boolean isLowerBound) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(caller.positions())
                        .singleElement()
                        .returns(name, QueuePosition::name)
                        .returns(ahead, QueuePosition::ahead)
                        .returns(isLowerBound, QueuePosition::isLowerBound));
    }

    private void awaitWaiting(long callers) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(cluster.node(0).admin().waiting(name).stream()
                                .mapToLong(WaitingInstance::callers)
                                .sum())
                        .isEqualTo(callers));
    }
}
