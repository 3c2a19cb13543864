package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import java.sql.SQLException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An operator releases a grant that another instance holds. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForcedReleaseIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration INSTANCE_TIMEOUT = Duration.ofSeconds(3);

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final Node node = nodes.start(TestSettings.instanceTimeout(INSTANCE_TIMEOUT));
    private final Node other = nodes.start(TestSettings.instanceTimeout(INSTANCE_TIMEOUT));

    /** Long before a third of its TTL, after which it is renewed. */
    @Test
    void isKnownToTheHolderAfterItsNextHeartbeat() {
        PermitGrant untouched = acquire();
        PermitGrant grant = acquire();

        other.admin().forceRelease(grant.externalId(), "operator", "it hangs");

        Awaitility.await("the loss")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
        assertThat(grant.isHeld()).isFalse();
        Awaitility.await("the other grant").atMost(SOON).until(untouched::isHeld);
        assertThat(other.events().of("lost")).isEmpty();
    }

    /** The next attempt finds the grant released, by the attempt before. */
    @Test
    void isToldWhenTheAnswerToItsCommitWasLost() {
        PermitGrant grant = acquire();
        other.gate().failAfter("commit", new SQLException("The answer is lost"));

        ReleaseOutcome outcome = other.admin().forceRelease(grant.externalId(), "operator", "it hangs");

        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(other.events().endings(grant.externalId()))
                .contains("forced " + grant.externalId() + " by operator: it hangs");
        assertThat(other.admin().forceRelease(grant.externalId(), "operator", "again"))
                .isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
    }

    private PermitGrant acquire() {
        return node.semaphores()
                .acquire(AcquireRequest.of(node.semaphore(1))
                        .withTtl(Duration.ofHours(1))
                        .withKeepAlive(true));
    }
}
