package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The low watermark of live tokens: a sum begins there, so nothing that is held may ever be below. */
class WatermarkIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);

    @Test
    void neverPassesWhatIsHeld() {
        String name = cluster.semaphore(2);
        PermitGrant oldest = node.semaphores().acquire(AcquireRequest.of(name));
        for (int i = 0; i < 10; i++) {
            node.semaphores().acquire(AcquireRequest.of(name)).release();
            other.semaphores().acquire(AcquireRequest.of(name)).release();
        }

        assertThat(watermark(name)).isEqualTo(oldest.fencingToken());
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
    }

    @Test
    void movesUpWhenTheOldestIsReleased() {
        String name = cluster.semaphore(3);
        PermitGrant oldest = node.semaphores().acquire(AcquireRequest.of(name));
        PermitGrant second = other.semaphores().acquire(AcquireRequest.of(name));
        oldest.release();

        PermitGrant third = node.semaphores().acquire(AcquireRequest.of(name));

        assertThat(watermark(name)).isEqualTo(second.fencingToken());
        second.release();
        third.release();
        PermitGrant last = other.semaphores().acquire(AcquireRequest.of(name));
        assertThat(watermark(name)).isEqualTo(last.fencingToken());
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name).exclusive()))
                .isEmpty();
    }

    @Test
    void countsOverSeveralNamesAtOnce() {
        String one = cluster.semaphore(2);
        String two = cluster.semaphore(2);
        node.semaphores().acquire(AcquireRequest.of(one)).release();
        PermitGrant heldOfOne = other.semaphores().acquire(AcquireRequest.of(one));
        PermitGrant ofBoth = node.semaphores().acquire(AcquireRequest.of(one, two));

        assertThat(watermark(one)).isEqualTo(heldOfOne.fencingToken());
        assertThat(watermark(two)).isEqualTo(ofBoth.fencingToken(two));
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(one, two))).isEmpty();
        assertThat(cluster.held(one)).isEqualTo(2);
        assertThat(cluster.held(two)).isEqualTo(1);
    }

    private static long watermark(String name) {
        Long liveFrom = cluster.schema()
                .jdbc()
                .queryForObject("select live_from from semaphore where name = ?", Long.class, name);
        return liveFrom == null ? -1 : liveFrom;
    }
}
