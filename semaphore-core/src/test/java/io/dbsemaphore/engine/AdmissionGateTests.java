package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.testing.Concurrently;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class AdmissionGateTests {

    /** More than a read-write lock can count. */
    private static final int ATTEMPTS = 70_000;

    private final AdmissionGate gate = new AdmissionGate();

    @Test
    void letsAnyNumberIn() throws InterruptedException {
        for (int i = 0; i < ATTEMPTS; i++) {
            gate.enter();
        }

        gate.close();
        assertThat(gate.awaitNone(Duration.ofMillis(1)))
                .as("none while they are in")
                .isEqualTo(false);
        for (int i = 0; i < ATTEMPTS; i++) {
            gate.exit();
        }

        assertThat(gate.awaitNone(Duration.ZERO)).as("none").isEqualTo(true);
    }

    @Test
    void lastsUntilTheLastHasLeft() throws Exception {
        gate.enter();
        gate.enter();
        gate.close();
        var closed = Concurrently.async(() -> gate.awaitNone(Duration.ofSeconds(20)));

        gate.exit();
        Concurrently.assertWaits(closed);
        gate.exit();

        assertThat(Concurrently.get(closed)).isEqualTo(true);
    }

    @Test
    void admitsNoAcquireWhenClosed() throws InterruptedException {
        gate.close();

        assertThatThrownBy(gate::enter).isInstanceOf(SemaphoreClosedException.class);
        assertThat(gate.awaitNone(Duration.ZERO)).as("none").isEqualTo(true);
    }
}
