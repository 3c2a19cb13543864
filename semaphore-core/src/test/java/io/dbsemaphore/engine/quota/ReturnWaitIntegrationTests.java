package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A caller that does not wait, while a permit that it cannot use goes back. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReturnWaitIntegrationTests extends ReuseFixture {

    @Test
    void waitsForNoReturnBeyondTheDecisionTimeout() throws Exception {
        try (Node own = Node.on(
                cluster.schema(), settings(REUSE).with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(4)))) {
            own.semaphores().acquire(request().withWaitTime(SOON)).release();
            Pause goesBack = own.gate().pauseBefore("update permit");
            long begun = System.nanoTime();
            assertThatThrownBy(() ->
                            own.semaphores().acquire(AcquireRequest.of(name).exclusive()))
                    .isInstanceOf(PermitsUnavailableException.class);
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            goesBack.open();
            assertThat(took).isLessThan(SOON);
        }
    }

    /** The database has answered: too little is available. That no permit went back in time does not change that. */
    @Test
    void isRefusedIfNoPermitGoesBackInTime() {
        try (Node own = Node.on(cluster.schema(), settings(REUSE))) {
            acquire(own).release();
            Pause goesBack = own.gate().pauseBefore("update permit");

            Throwable failure = catchThrowable(
                    () -> own.semaphores().acquire(AcquireRequest.of(name).exclusive()));

            goesBack.open();
            assertThat(failure).isInstanceOf(PermitsUnavailableException.class);
        }
    }

    @Test
    void isEndedByAnInterrupt() throws Exception {
        SemaphoreSettings patient = settings(REUSE).with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(40));
        try (Node own = Node.on(cluster.schema(), patient)) {
            acquire(own).release();
            Pause goesBack = own.gate().pauseBefore("update permit");
            FutureTask<Throwable> acquire = new FutureTask<>(() -> catchThrowable(
                    () -> own.semaphores().acquire(AcquireRequest.of(name).exclusive())));
            Thread thread = new Thread(acquire);
            thread.setDaemon(true);
            thread.start();
            goesBack.awaitReached(SOON);
            Concurrently.assertWaits(acquire);
            thread.interrupt();
            assertThat(Concurrently.get(acquire, SOON)).isInstanceOf(AcquireInterruptedException.class);
            goesBack.open();
        }
    }
}
