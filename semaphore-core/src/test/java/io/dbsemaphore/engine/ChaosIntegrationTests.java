package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.DataAccessException;

/**
 * Commits and answers are lost and connections cut at random while two nodes contend for two semaphores. What the callers
 * hold by their own view is at all times within the capacity, and in the end exactly what the database says.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class ChaosIntegrationTests {

    private static final Duration DURATION = Duration.ofSeconds(10);
    private static final int THREADS = 4;
    private static final int CAPACITY = 2;

    private final long seed = System.nanoTime();
    private final String one = SemaphoreRows.name("chaos");
    private final String other = SemaphoreRows.name("chaos");

    private final Map<String, PeakCounter> validUntil = new ConcurrentHashMap<>();
    private final Map<String, PermitGrant> held = new ConcurrentHashMap<>();
    private final Set<Long> tokens = ConcurrentHashMap.newKeySet();
    private final Map<String, AtomicInteger> outcomes = new ConcurrentHashMap<>();

    @Measured
    @Test
    void neitherLeaksNorForgesAPermit() {
        TestDatabase.assumeServer();
        validUntil.put(one, new PeakCounter());
        validUntil.put(other, new PeakCounter());
        held.clear();
        tokens.clear();
        outcomes.clear();
        try (Schema schema = TestDatabase.create().migrate();
                TcpProxy proxy = schema.newProxy();
                Node first = Node.behind(proxy, schema, 3, TestSettings.limits(2, 2, 3));
                Node second = Node.behind(proxy, schema, 3, TestSettings.limits(2, 2, 3))) {
            first.admin().create(one, CAPACITY);
            first.admin().create(other, CAPACITY);
            SemaphoreRows rows = new SemaphoreRows(schema);
            long end = System.nanoTime() + DURATION.toNanos();

            Concurrently.run(THREADS, DURATION.plusSeconds(60), thread -> {
                Random random = new Random(seed + thread);
                Node node = thread % 2 == 0 ? first : second;
                Optional<PermitGrant> kept = Optional.empty();
                while (System.nanoTime() < end) {
                    kept.ifPresent(this::release);
                    arm(proxy, random);
                    kept = acquire(node, random);
                    assertThat(List.of(rows.held(one), rows.held(other))).allMatch(sum -> sum <= CAPACITY);
                }
            });
            proxy.disarm();

            assertThat(validUntil.get(one).peak())
                    .as("seed %d: %s", seed, outcomes)
                    .isLessThanOrEqualTo(CAPACITY);
            assertThat(validUntil.get(other).peak())
                    .as("seed %d: %s", seed, outcomes)
                    .isLessThanOrEqualTo(CAPACITY);
            Awaitility.await("what is undone and released in the background")
                    .atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertHeldAsReported(rows));
            held.values().forEach(this::release);
            rows.awaitNothingHeld(Duration.ofSeconds(60), List.of(one, other));
            Measurement.check(() -> {
                assertThat(validUntil.get(one).peak())
                        .as("seed %d: %s", seed, outcomes)
                        .isEqualTo(CAPACITY);
                assertThat(validUntil.get(other).peak())
                        .as("seed %d: %s", seed, outcomes)
                        .isPositive();
            });
        }
    }

    private static void arm(TcpProxy proxy, Random random) {
        switch (random.nextInt(8)) {
            case 0 -> proxy.dropNextCommit();
            case 1 -> proxy.dropNextCommitAnswer();
            case 2 -> proxy.dropNextCommit("insert into permit_request");
            case 3 -> proxy.dropNextCommitAnswer("insert into permit_request");
            case 4 -> proxy.cutAll();
            default -> {
                // the network is in the desired state, or another thread has changed it
            }
        }
    }

    private Optional<PermitGrant> acquire(Node node, Random random) {
        AcquireRequest request = (random.nextBoolean() ? AcquireRequest.of(one) : AcquireRequest.of(one, other))
                .withWaitTime(Duration.ofMillis(random.nextInt(200)));
        if (random.nextBoolean()) {
            request = request.withExternalId(UUID.randomUUID().toString());
        }
        try {
            Optional<PermitGrant> granted = node.semaphores().tryAcquire(request);
            granted.ifPresent(grant -> {
                assertThat(grant.isReplayed()).isFalse();
                assertThat(tokens.add(grant.fencingToken(one))).isTrue();
                held.put(grant.externalId(), grant);
                grant.permits().forEach((name, count) -> validUntil.get(name).enter(count));
            });
            count(granted.isPresent() ? "granted" : "refused");
            return granted;
        } catch (AcquireOutcomeUnknownException unknown) {
            count("unknown");
        } catch (DataAccessException failure) {
            count("failed");
        }
        return Optional.empty();
    }

    private void release(PermitGrant grant) {
        grant.permits().forEach((name, count) -> validUntil.get(name).leave(count));
        held.remove(grant.externalId());
        try {
            count(grant.release().toString());
        } catch (DataAccessException failure) {
            count("release failed");
        }
    }

    private void assertHeldAsReported(SemaphoreRows rows) {
        validUntil.keySet().forEach(name -> {
            List<String> holders = held.values().stream()
                    .filter(grant -> grant.permits().containsKey(name))
                    .map(PermitGrant::externalId)
                    .sorted()
                    .toList();
            assertThat(rows.requests(name, "ACQUIRED")).isEqualTo(holders);
            assertThat(rows.held(name)).isEqualTo(holders.size());
        });
    }

    private void count(String outcome) {
        outcomes.computeIfAbsent(outcome, key -> new AtomicInteger()).incrementAndGet();
    }
}
