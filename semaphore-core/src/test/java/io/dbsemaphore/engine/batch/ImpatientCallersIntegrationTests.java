package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that do not wait, beside one of the same JVM that does. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ImpatientCallersIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(15);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);

    @ParameterizedTest
    @ValueSource(ints = {2, 16})
    void doNotKeepAWaiterFromAPermitThatAnotherJvmReleased(int callers) throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = other.semaphores().acquire(AcquireRequest.of(name));
        Future<PermitGrant> waiting = inLine(AcquireRequest.of(name));
        AtomicBoolean over = new AtomicBoolean();
        List<Future<Integer>> loops = new ArrayList<>();
        for (int caller = 0; caller < callers; caller++) {
            loops.add(Concurrently.async(() -> tryAgainAndAgain(name, over)));
        }
        long before = node.gate().count("sum(");
        Awaitility.await().atMost(SOON).until(() -> node.gate().count("sum(") > before + 20);

        held.release();
        long released = System.nanoTime();
        PermitGrant grant = Concurrently.get(waiting);

        assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(SOON);
        over.set(true);
        for (Future<Integer> loop : loops) {
            assertThat(Concurrently.get(loop))
                    .as("grants of callers that came later")
                    .isZero();
        }
        grant.release();
    }

    /** While the window is open in which permits are withheld for callers of several semaphores. */
    @Test
    void areToldThatAFreePermitIsWithheld() throws Exception {
        String full = cluster.semaphore(1);
        String free = cluster.semaphore(1);
        PermitGrant inTheWay = other.semaphores().acquire(AcquireRequest.of(full));
        PermitGrant soonFree = other.semaphores().acquire(AcquireRequest.of(free));
        Future<PermitGrant> waiting = inLine(AcquireRequest.of(full, free));
        soonFree.release();

        Awaitility.await("a refusal")
                .atMost(SOON)
                .untilAsserted(() -> assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> node.semaphores()
                                .acquire(AcquireRequest.of(free))
                                .release())
                        .withMessageContaining("0 of 1 held")
                        .withMessageContaining("withheld"));

        inTheWay.release();
        Concurrently.get(waiting).release();
    }

    /** Returns how often it got a permit. */
    private int tryAgainAndAgain(String name, AtomicBoolean over) {
        int grants = 0;
        while (!over.get()) {
            grants += node.semaphores().tryAcquire(AcquireRequest.of(name)).isPresent() ? 1 : 0;
        }
        return grants;
    }

    /** One that waits, and has been refused once. */
    private Future<PermitGrant> inLine(AcquireRequest request) {
        node.gate().clear();
        Future<PermitGrant> waiting =
                Concurrently.async(() -> node.semaphores().acquire(request.withWaitTime(WAIT_TIME)));
        Awaitility.await("the first attempt, and a look of the poller")
                .atMost(SOON)
                .until(() -> node.gate().count("commit") >= 2 && node.gate().count("sum(") >= 2);
        return waiting;
    }
}
