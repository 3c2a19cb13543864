package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;

/** How long a caller waits for a semaphore that is to be created by a pattern. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PatternCreationWaitIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String GUARD = "dbsemaphore.maintenance";

    private static Schema schema;
    private static Node node;
    private static Node impatient;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        node = Node.on(schema, TestSettings.defaults().withPattern("made:*", 1));
        impatient = Node.on(
                schema,
                TestSettings.defaults()
                        .withPattern("made:*", 1)
                        .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(1)));
        node.semaphores()
                .acquire(AcquireRequest.of("made:first").withWaitTime(SOON))
                .release();
        impatient
                .semaphores()
                .acquire(AcquireRequest.of("made:second").withWaitTime(SOON))
                .release();
    }

    @AfterAll
    static void stop() {
        impatient.close();
        node.close();
        schema.close();
    }

    @Measured
    @Test
    void aCallerWithoutAWaitTimeIsAnsweredAfterTheDecisionTimeoutAlthoughItsSemaphoreCannotBeMade() throws Exception {
        AcquireRequest request = madeByPattern();
        Duration took;
        try (RowLock lock = RowLock.ofSemaphore(schema, GUARD)) {
            long begun = System.nanoTime();
            assertThatThrownBy(() -> impatient.semaphores().acquire(request))
                    .isInstanceOfAny(QueryTimeoutException.class, CannotAcquireLockException.class);
            took = Duration.ofNanos(System.nanoTime() - begun);
        }
        Measurement.check(() -> assertThat(took).isLessThan(Duration.ofMillis(2600)));
    }

    @Measured
    @Test
    void anInterruptEndsTheWaitForASemaphoreThatCannotBeMade() throws Exception {
        Duration took;
        FutureTask<Throwable> acquire = new FutureTask<>(() ->
                catchThrowable(() -> node.semaphores().acquire(madeByPattern().withWaitTime(Duration.ofSeconds(60)))));
        Thread thread = new Thread(acquire);
        thread.setDaemon(true);
        try (RowLock lock = RowLock.ofSemaphore(schema, GUARD)) {
            thread.start();
            Concurrently.assertWaits(acquire);
            long begun = System.nanoTime();
            thread.interrupt();
            assertThat(acquire.get(20, TimeUnit.SECONDS)).isInstanceOf(AcquireInterruptedException.class);
            took = Duration.ofNanos(System.nanoTime() - begun);
        }
        Measurement.check(() -> assertThat(took).isLessThan(Duration.ofSeconds(4)));
    }

    private static AcquireRequest madeByPattern() {
        return AcquireRequest.of("made:" + SemaphoreRows.name("n"));
    }
}
