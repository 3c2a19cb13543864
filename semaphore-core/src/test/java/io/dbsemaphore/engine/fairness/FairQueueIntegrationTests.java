package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers are served in the order of their arrival, whatever instance they wait in. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FairQueueIntegrationTests {

    /** An instance knows the clock of the database as well as its fastest round trip was. */
    private static final Duration ARRIVAL_ERROR = Duration.ofMillis(100);

    private static final Duration WAIT_TIME = Duration.ofSeconds(40);
    private static final Duration HOLD = Duration.ofMillis(20);
    private static final Duration SOON = Duration.ofSeconds(8);
    private static final int CALLERS = 40;

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    /** The callers by the fencing tokens of their grants, which rise in the order of the grants. */
    private final SortedMap<Long, Integer> granted = Collections.synchronizedSortedMap(new TreeMap<>());

    private final List<Future<?>> callers = new ArrayList<>();

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void servesCallersOfTwoInstancesInTheOrderOfTheirArrival(int capacity) throws Exception {
        granted.clear();
        callers.clear();
        String name = cluster.semaphore(capacity);
        PermitGrant all =
                cluster.node(0).semaphores().acquire(AcquireRequest.of(name).withPermits(name, capacity));
        for (int i = 0; i < CALLERS; i++) {
            wait(i, cluster.node(i), AcquireRequest.of(name), HOLD);
            awaitWaiting(name, i + 1);
        }

        all.release();

        for (Future<?> caller : callers) {
            Concurrently.get(caller);
        }
        List<Integer> served = List.copyOf(granted.values());
        assertThat(served).hasSize(CALLERS);
        Measurement.check(() -> {
            if (capacity == 1) {
                assertThat(pairsOutOfOrder(served))
                        .as("out of order in %s", served)
                        .isLessThanOrEqualTo(CALLERS * (CALLERS - 1) / 200);
            }
            // a permit is kept for a caller of another instance until that instance fetches it; others go on meanwhile
            assertThat(overtakenMost(served)).as("overtaken in %s", served).isLessThanOrEqualTo(2 * capacity);
        });
    }

    @Test
    void servesAWriterAmongReadersOfAnotherInstance() throws Exception {
        String name = cluster.semaphore(4);
        AtomicBoolean over = new AtomicBoolean();
        List<Future<?>> readers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            readers.add(keepBusy(cluster.node(0), AcquireRequest.of(name), over));
        }
        await().until(() -> cluster.held(name) == 4);

        try (PermitGrant writer = cluster.node(1)
                .semaphores()
                .acquire(AcquireRequest.of(name).exclusive().withWaitTime(SOON))) {
            assertThat(cluster.held(name)).isEqualTo(4);
            assertThat(writer.permits()).containsEntry(name, 4);
        } finally {
            over.set(true);
        }
        for (Future<?> reader : readers) {
            Concurrently.get(reader);
        }
    }

    @Test
    void servesAReaderAmongWritersOfAnotherInstance() throws Exception {
        String name = cluster.semaphore(4);
        AtomicBoolean over = new AtomicBoolean();
        Future<?> writer = keepBusy(cluster.node(0), AcquireRequest.of(name).exclusive(), over);
        Future<?> other = keepBusy(cluster.node(0), AcquireRequest.of(name).exclusive(), over);
        await().until(() -> cluster.held(name) == 4);

        try {
            cluster.node(1)
                    .semaphores()
                    .acquire(AcquireRequest.of(name).withWaitTime(SOON))
                    .release();
        } finally {
            over.set(true);
        }
        Concurrently.get(writer);
        Concurrently.get(other);
    }

    /** A caller of several permits collects them: callers that came later do not take them away one by one. */
    @Test
    void servesACallerOfManyPermitsAmongCallersOfOne() throws Exception {
        String name = cluster.semaphore(4);
        AtomicBoolean over = new AtomicBoolean();
        List<Future<?>> small = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            small.add(keepBusy(cluster.node(0), AcquireRequest.of(name), over));
        }
        await().until(() -> cluster.held(name) == 4);

        try {
            cluster.node(1)
                    .semaphores()
                    .acquire(AcquireRequest.of(name).withPermits(name, 3).withWaitTime(SOON))
                    .release();
        } finally {
            over.set(true);
        }
        for (Future<?> caller : small) {
            Concurrently.get(caller);
        }
    }

    @Measured
    @Test
    void callersWithoutWaitTimeDoNotOvertakeThoseOfAnotherInstance() throws Exception {
        callers.clear();
        String name = cluster.semaphore(2);
        PermitGrant one = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        wait(0, cluster.node(1), AcquireRequest.of(name).withPermits(name, 2), Duration.ZERO);
        awaitWaiting(name, 1);

        Throwable answer = catchThrowable(() ->
                cluster.node(0).semaphores().acquire(AcquireRequest.of(name)).release());

        one.release();
        Concurrently.get(callers.get(0));
        Measurement.check(() -> assertThat(answer)
                .isInstanceOfSatisfying(
                        PermitsUnavailableException.class,
                        refused -> assertThat(refused.shortages())
                                .singleElement()
                                .satisfies(shortage ->
                                        assertThat(shortage.isWithheld()).isTrue())));
    }

    /** Somebody deletes the record of an instance: its callers are recorded anew, at their place. */
    @Measured
    @Test
    void aDeletedRecordCostsNobodyItsPlace() throws Exception {
        granted.clear();
        callers.clear();
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        wait(0, cluster.node(1), AcquireRequest.of(name), Duration.ofMillis(20));
        awaitWaiting(name, 1);
        wait(1, cluster.node(0), AcquireRequest.of(name), Duration.ofMillis(20));
        awaitWaiting(name, 2);

        cluster.schema().jdbc().update("delete from semaphore_waiter");
        awaitWaiting(name, 2);
        held.release();

        for (Future<?> caller : callers) {
            Concurrently.get(caller);
        }
        Measurement.check(() -> assertThat(granted.values()).containsExactly(0, 1));
    }

    @Measured
    @Test
    void theAdministrationShowsWhoWaitsInAllInstances() throws Exception {
        callers.clear();
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        Instant before = cluster.node(0).admin().now();
        for (int i = 0; i < 3; i++) {
            wait(i, cluster.node(1 + i % 2), AcquireRequest.of(name), Duration.ZERO);
            awaitWaiting(name, i + 1);
        }

        await().until(() -> cluster.node(0).admin().find(name).orElseThrow().waiting() == 3);
        List<WaitingInstance> waiting = await().until(
                        () -> cluster.node(0).admin().waiting(name),
                        instances -> instances.size() == 2
                                && instances.stream()
                                                .mapToInt(WaitingInstance::callers)
                                                .sum()
                                        == 3);
        assertThat(waiting).isSortedAccordingTo(Comparator.comparing(WaitingInstance::since));

        held.release();
        for (Future<?> caller : callers) {
            Concurrently.get(caller);
        }
        await().until(() -> cluster.node(0).admin().waiting(name).isEmpty());
        Measurement.check(() -> assertThat(waiting)
                .allSatisfy(instance -> assertThat(instance.since()).isAfter(before.minus(ARRIVAL_ERROR)))
                .extracting(WaitingInstance::callers)
                .containsExactly(2, 1));
    }

    /** Where nobody waits there is nothing to be read. */
    @Test
    void whereNobodyWaitsNobodyIsLookedFor() {
        String name = cluster.semaphore(1);
        try (Node own = Node.on(cluster.schema())) { // no caller of another test waits in it
            own.semaphores().acquire(AcquireRequest.of(name)).release(); // the first use checks the tables
            own.gate().clear();

            own.semaphores().acquire(AcquireRequest.of(name)).release();
            assertThat(cluster.node(1).semaphores().tryAcquire(AcquireRequest.of(name)))
                    .hasValueSatisfying(PermitGrant::release);

            assertThat(own.gate().count("semaphore_waiter")).isZero();
        }
    }

    /** Acquires again and again. */
    private static Future<?> keepBusy(Node node, AcquireRequest request, AtomicBoolean over) {
        return Concurrently.async(() -> {
            while (!over.get()) {
                try (PermitGrant grant = node.semaphores().acquire(request.withWaitTime(WAIT_TIME))) {
                    LockSupport.parkNanos(HOLD.toNanos());
                    assertThat(grant.isHeld()).isTrue();
                }
            }
            return over;
        });
    }

    /** Waits in this instance until it is served, and holds the permits for a moment. */
    private void wait(int number, Node node, AcquireRequest request, Duration work) {
        callers.add(Concurrently.async(() -> {
            try (PermitGrant grant = node.semaphores().acquire(request.withWaitTime(WAIT_TIME))) {
                granted.put(grant.fencingToken(), number);
                LockSupport.parkNanos(work.toNanos());
                return grant;
            }
        }));
    }

    /** Waits until so many callers of all instances are known to the database to wait. */
    private static void awaitWaiting(String name, int count) {
        await().atMost(Duration.ofSeconds(20))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> waiting(name) >= count);
    }

    private static int waiting(String name) {
        return Optional.ofNullable(cluster.schema()
                        .jdbc()
                        .queryForObject(
                                "select sum(w.waiting) from semaphore_waiter w join semaphore s on s.id = w.semaphore_id"
                                        + " where s.name = ?",
                                Integer.class,
                                name))
                .orElse(0);
    }

    private static long overtakenMost(List<Integer> served) {
        return served.stream()
                .mapToLong(caller -> served.subList(0, served.indexOf(caller)).stream()
                        .filter(before -> before > caller)
                        .count())
                .max()
                .orElse(0);
    }

    private static int pairsOutOfOrder(List<Integer> served) {
        int pairs = 0;
        for (int i = 0; i < served.size(); i++) {
            for (int j = i + 1; j < served.size(); j++) {
                pairs += served.get(i) > served.get(j) ? 1 : 0;
            }
        }
        return pairs;
    }
}
