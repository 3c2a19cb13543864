package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.SemaphoreClosedException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class AdmissionGateTests {

    /** More than a read-write lock can count. */
    private static final int ATTEMPTS = 70_000;

    private final AdmissionGate intake = new AdmissionGate();

    @Test
    void letsAnyNumberIn() throws InterruptedException {
        for (int i = 0; i < ATTEMPTS; i++) {
            intake.enter();
        }

        intake.close();
        assertThat(intake.awaitNone(Duration.ofMillis(1)))
                .as("none while they are in")
                .isEqualTo(false);
        for (int i = 0; i < ATTEMPTS; i++) {
            intake.leave();
        }

        assertThat(intake.awaitNone(Duration.ZERO)).as("none").isEqualTo(true);
    }

    @Test
    void lastsUntilTheLastHasLeft() throws Exception {
        intake.enter();
        intake.enter();
        intake.close();
        var closed = Cluster.async(() -> intake.awaitNone(Duration.ofSeconds(20)));

        intake.leave();
        Cluster.assertWaits(closed);
        intake.leave();

        assertThat(Cluster.get(closed)).isEqualTo(true);
    }

    @Test
    void letsNobodyInOnceClosed() throws InterruptedException {
        intake.close();

        assertThatThrownBy(intake::enter).isInstanceOf(SemaphoreClosedException.class);
        assertThatThrownBy(() -> intake.admit(() -> "granted")).isInstanceOf(SemaphoreClosedException.class);
        assertThat(intake.awaitNone(Duration.ZERO)).as("none").isEqualTo(true);
    }

    @Test
    void letsAnAttemptOutThatThrows() throws InterruptedException {
        assertThatThrownBy(() -> intake.admit(() -> {
                    throw new IllegalStateException("no database");
                }))
                .hasMessage("no database");

        assertThat(intake.awaitNone(Duration.ZERO)).as("none").isEqualTo(true);
    }
}
