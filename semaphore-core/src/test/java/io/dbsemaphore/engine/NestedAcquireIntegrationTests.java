package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a refusal tells a thread that runs under a permit of the same semaphore, and one that does not. */
class NestedAcquireIntegrationTests {

    private static final String NOT_RE_ENTRANT =
            "of them by the calling thread itself, and semaphores are not re-entrant";

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final SemaphoreTemplate semaphores = cluster.node(0).semaphores();
    private final Node other = cluster.node(1);

    @Test
    void tellsAThreadThatItHoldsThePermitItself() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(1));

        semaphores.executeWithoutResult(
                request,
                outer -> assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> semaphores.execute(request, inner -> "never"))
                        .withMessageContaining("1 of 1 held, 1 " + NOT_RE_ENTRANT)
                        .withMessageContaining("it cannot succeed before the calling thread has released")
                        .withMessageNotContaining("trying again later may succeed")
                        .withMessageNotContaining("expires")
                        .withMessageNotContaining("before 20"));
    }

    @Test
    void tellsTheCallerOfAnAsynchronousAcquire() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(1)).withWaitTime(Duration.ofMillis(50));

        semaphores.executeWithoutResult(
                request,
                outer -> assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(() -> semaphores.acquireAsync(request).get(20, TimeUnit.SECONDS))
                        .withCauseInstanceOf(PermitsUnavailableException.class)
                        .withMessageContaining("1 of 1 held, 1 " + NOT_RE_ENTRANT));
    }

    @Test
    void saysThatItMaySucceedLaterIfAnotherHolderIsInTheWay() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(2));
        PermitGrant elsewhere = other.semaphores().acquire(request);

        semaphores.executeWithoutResult(
                request,
                outer -> assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> semaphores.acquire(request))
                        .withMessageContaining("2 of 2 held, 1 " + NOT_RE_ENTRANT)
                        .withMessageContaining("trying again later may succeed"));
        elsewhere.close();
    }

    @Test
    void saysNothingOfItToAThreadThatHoldsAnotherSemaphore() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(1));
        AcquireRequest another = AcquireRequest.of(cluster.semaphore(1));
        PermitGrant elsewhere = other.semaphores().acquire(request);

        semaphores.executeWithoutResult(
                another,
                outer -> assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> semaphores.acquire(request))
                        .withMessageContaining("1 of 1 held")
                        .withMessageNotContaining("calling thread"));
        elsewhere.close();
    }

    /** The lease of a grant that is kept alive is extended before it ends. */
    @Test
    void callsNoLeaseAnExpiry() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(1)).withKeepAlive(true);
        PermitGrant kept = other.semaphores().acquire(request);

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores.acquire(request))
                .withMessageContaining("; without a release, none becomes available before 20")
                .withMessageNotContaining("expires");
        kept.close();
    }
}
