package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What operators write is refused on every database if one of them cannot store it. */
class OperatorTextsIntegrationTests {

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final Node node = nodes.start(TestSettings.instanceTimeout(Duration.ofSeconds(20)));
    private final SemaphoreAdmin admin = node.admin();
    private final String name = node.semaphore(1);

    @ParameterizedTest
    @ValueSource(strings = {"a\0b", "\u001b[2J", "\u0085", "\ud800"})
    void mayNotHaveControlCharacters(String text) {
        String rule = " must have no control characters";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> admin.setCapacity(name, 2, "ada", text))
                .withMessageStartingWith("reason" + rule)
                .withMessageContaining("?");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> admin.setCapacity(name, 2, text, "noon"))
                .withMessageStartingWith("changedBy" + rule);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> admin.holders(name, text, 0, 100))
                .withMessageStartingWith("containing" + rule);
        try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> admin.forceRelease(grant.externalId(), text, "it hangs"))
                    .withMessageStartingWith("releasedBy" + rule);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> admin.forceRelease(grant.externalId(), "ada", text))
                    .withMessageStartingWith("reason" + rule);
            assertThat(grant.isHeld()).isTrue();
        }
        assertThat(admin.capacityHistory(name)).isEmpty();
    }

    @Test
    void mayHaveSeveralLines() {
        String reason = "noon:\r\n\ttwo servers \ud83d\ude00";

        admin.setCapacity(name, 2, "ada \ud83d\ude00", reason);

        assertThat(admin.capacityHistory(name))
                .extracting(CapacityChange::reason)
                .containsExactly(reason);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> admin.setCapacity(name, 3, "ada\n", "noon"))
                .withMessageStartingWith("changedBy must have no control characters");
    }
}
