package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.OtherClock;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Servers of one cluster whose clocks differ: an expiry is written by the clock of one, and judged by that of another. Here
 * it is one server, which tells some of its sessions another time.
 */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
class DifferingClocksIntegrationTests {

    private static final Duration TTL = Duration.ofSeconds(30);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final String name = cluster.semaphore(1);

    @Test
    void takeNothingFromALiveHolderWhileTheyDifferByLessThanTheTimeToLive() {
        PermitGrant grant = acquire();

        assertThat(ahead(TTL.dividedBy(3)).semaphores().tryAcquire(AcquireRequest.of(name)))
                .isEmpty();
        assertThat(behind(TTL).semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

        assertThat(grant.renew(TTL).isHeld()).isTrue();
    }

    /** Documented: clocks of a cluster have to be kept together. */
    @Test
    void takePermitsFromALiveHolderWhenTheyDifferByMoreAndThatIsFoundOut() {
        PermitGrant grant = acquire();

        assertThat(ahead(TTL.plusSeconds(5)).semaphores().tryAcquire(AcquireRequest.of(name)))
                .isPresent();

        assertThat(cluster.held(name)).isEqualTo(1);
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> node.transaction()
                        .executeWithoutResult(status -> node.semaphores().requireHeld(grant)));
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> grant.renew(TTL));
    }

    private PermitGrant acquire() {
        return node.semaphores().acquire(AcquireRequest.of(name).withTtl(TTL));
    }

    private Node ahead(Duration difference) {
        return cluster.start(new OtherClock(
                cluster.schema().newPool(4),
                () -> Instant.now().plus(difference).getEpochSecond()));
    }

    private Node behind(Duration difference) {
        return ahead(difference.negated());
    }
}
