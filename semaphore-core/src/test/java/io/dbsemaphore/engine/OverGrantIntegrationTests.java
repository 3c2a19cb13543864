package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/** Never over capacity, however many come at once and from wherever: two nodes, each with a pool of its own. */
@Promise
class OverGrantIntegrationTests {

    private static final int THREADS = 16;
    private static final int CAPACITY = 3;
    private static final int ROUNDS = 200;
    private static final int ROUNDS_IN_TRANSACTIONS = 200;
    private static final Duration DEADLINE = Duration.ofMinutes(5);

    /** Half of the threads on each node; inside host transactions each needs two connections. */
    @RegisterExtension
    static final Cluster cluster = new Cluster(2, THREADS + 2);

    @Test
    void grantsTheCapacityAndNoMoreToConcurrentCallers() {
        Race race = new Race(cluster.semaphore(CAPACITY));

        Concurrently.run(THREADS, DEADLINE, thread -> {
            for (int batch = 0; batch < ROUNDS; batch++) {
                race.run(cluster.node(thread), race.request(thread));
            }
        });

        race.assertCapacityKept(ROUNDS);
    }

    @Slow
    @Test
    void grantsTheCapacityAndNoMoreInsideHostTransactionsThatHaveReadBefore() {
        Race race = new Race(cluster.semaphore(CAPACITY));

        Concurrently.run(THREADS, DEADLINE, thread -> {
            Node node = cluster.node(thread);
            for (int batch = 0; batch < ROUNDS_IN_TRANSACTIONS; batch++) {
                node.transaction().executeWithoutResult(status -> {
                    node.jdbc().queryForList("select sum(p.count) from permit p where p.state = 'ACQUIRED'");
                    node.jdbc().queryForList("select * from semaphore");
                    race.run(node, race.request(thread));
                });
            }
        });

        race.assertCapacityKept(ROUNDS_IN_TRANSACTIONS);
    }

    @Measured
    @Test
    void staysWithinTheCapacityWhileOthersRelease() {
        String name = cluster.semaphore(CAPACITY);
        PeakCounter holders = new PeakCounter();
        ConcurrentSkipListSet<Long> sums = new ConcurrentSkipListSet<>();

        Concurrently.run(THREADS, DEADLINE, thread -> {
            Random random = new Random(thread);
            for (int batch = 0; batch < 10; batch++) {
                int count = 1 + random.nextInt(CAPACITY);
                try (PermitGrant grant = cluster.node(thread)
                        .semaphores()
                        .acquire(AcquireRequest.of(name)
                                .withPermits(name, count)
                                .withWaitTime(Duration.ofSeconds(60)))) {
                    holders.enter(grant.permits().get(name));
                    sums.add(cluster.held(name));
                    holders.leave(grant.permits().get(name));
                }
            }
        });

        assertThat(holders.peak()).isLessThanOrEqualTo(CAPACITY);
        assertThat(sums).allSatisfy(sum -> assertThat(sum).isLessThanOrEqualTo(CAPACITY));
        assertThat(cluster.held(name)).isZero();
        Measurement.check(() -> assertThat(sums).contains((long) CAPACITY));
    }

    @Test
    void grantsOverlappingSetsOfNamesInOpposedOrdersWithoutADeadlock() {
        Map<String, Integer> capacities =
                Map.of(cluster.semaphore(3), 3, cluster.semaphore(4), 4, cluster.semaphore(5), 5);
        List<String> names = capacities.keySet().stream().sorted().toList();
        List<String> opposed = new ArrayList<>(names);
        Collections.reverse(opposed);
        Map<String, PeakCounter> holders =
                names.stream().collect(Collectors.toMap(Function.identity(), name -> new PeakCounter()));
        Optional<Long> deadlocksBefore = deadlocks();

        Concurrently.run(THREADS, DEADLINE, thread -> {
            Random random = new Random(thread);
            List<String> command = thread / 2 % 2 == 0 ? names : opposed;
            for (int batch = 0; batch < 20; batch++) {
                List<String> wanted = new ArrayList<>(command);
                if (random.nextInt(3) == 0) {
                    wanted.remove(random.nextInt(wanted.size()));
                }
                AcquireRequest request = AcquireRequest.of(wanted.toArray(String[]::new))
                        .withPermits(wanted.get(0), 1 + random.nextInt(2))
                        .withWaitTime(Duration.ofSeconds(60));
                try (PermitGrant grant = cluster.node(thread).semaphores().acquire(request)) {
                    grant.permits().forEach((name, count) -> holders.get(name).enter(count));
                    grant.permits().forEach((name, count) -> holders.get(name).leave(count));
                }
            }
        });

        assertThat(capacities).allSatisfy((name, capacity) -> {
            assertThat(holders.get(name).peak()).isLessThanOrEqualTo(capacity);
            assertThat(cluster.held(name)).isZero();
        });
        assertThat(deadlocks()).isEqualTo(deadlocksBefore);
    }

    /** How many deadlocks the server has found, where it counts them. */
    private static Optional<Long> deadlocks() {
        JdbcTemplate jdbc = cluster.schema().jdbc();
        DatabaseKind kind = cluster.schema().kind();
        if (kind.isMySqlFamily()) {
            return Optional.ofNullable(jdbc.queryForObject(
                    "select count from information_schema.innodb_metrics where name = 'lock_deadlocks'", Long.class));
        }
        if (kind == DatabaseKind.POSTGRESQL) {
            return Optional.ofNullable(jdbc.queryForObject(
                    "select deadlocks from pg_stat_database where datname = current_database()", Long.class));
        }
        return Optional.empty();
    }

    /** All threads try at once, and the threads that are granted hold until all have tried. */
    private static final class Race {

        private final String name;
        private final PeakCounter holders = new PeakCounter();
        private final List<Integer> granted = new ArrayList<>();
        private final List<Long> sums = new ArrayList<>();
        private final CyclicBarrier begin = new CyclicBarrier(THREADS);
        private final CyclicBarrier tried = new CyclicBarrier(THREADS, this::measure);

        Race(String name) {
            this.name = name;
        }

        /** Half of the requests have an id, so that they are looked up before the lock. */
        AcquireRequest request(int thread) {
            AcquireRequest request = AcquireRequest.of(name);
            return thread / 2 % 2 == 0 ? request : request.withExternalId(cluster.externalId());
        }

        void run(Node node, AcquireRequest request) {
            await(begin);
            Optional<PermitGrant> grant = node.semaphores().tryAcquire(request);
            grant.ifPresent(held -> holders.enter());
            await(tried);
            grant.ifPresent(held -> {
                holders.leave();
                held.release();
            });
        }

        void assertCapacityKept(int batches) {
            assertThat(holders.peak()).isEqualTo(CAPACITY);
            assertThat(granted).hasSize(batches).containsOnly(CAPACITY);
            assertThat(sums).hasSize(batches).containsOnly((long) CAPACITY);
            assertThat(cluster.held(name)).isZero();
        }

        private void measure() {
            granted.add(holders.current());
            sums.add(cluster.held(name));
        }

        private static void await(CyclicBarrier barrier) {
            try {
                barrier.await(60, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException("The other threads do not come", e);
            }
        }
    }
}
