package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.concurrent.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;

/** When callers are answered whose acquires no batch decides. The decision timeout is 5 seconds. */
class AcquireDeadlinesTests extends WorkQueueFixture {

    private static final Duration DECISION_TIMEOUT = Duration.ofSeconds(5);

    private final AtomicLong now = new AtomicLong();
    private final AtomicLong step = new AtomicLong();
    private final QueueClock clock = new QueueClock(() -> now.getAndAdd(step.get()), bound -> 0);
    private final WorkQueue queue = queue(2, 500, clock);
    private final List<Long> pauses = new ArrayList<>();
    private final List<Runnable> scheduled = new ArrayList<>();
    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1) {
        @Override
        public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
            if (delay != AcquireDeadlines.TICK) { // other than that of the tick
                pauses.add(delay);
                scheduled.add(command);
            }
            return super.schedule(() -> {}, 0, unit);
        }
    };
    private final AcquireDeadlines deadlines = new AcquireDeadlines(
            queue,
            new BackgroundReleaser(null, scheduler, Runnable::run),
            DECISION_TIMEOUT,
            () -> {},
            scheduler,
            clock);

    @AfterEach
    void shutDown() {
        scheduler.shutdownNow();
    }

    /** Its caller would never be answered. */
    @Test
    void applyADeadlineThatPassesWhileTheClockIsRead() {
        Acquire acquire = acquire(command(BACKUP), true, Deadline.after(0, Duration.ofNanos(500_000)), clock);
        queue.add(acquire);
        step.set(Duration.ofMillis(1).toNanos());

        deadlines.schedule(acquire);

        while (!acquire.answer().isDone()) {
            assertThat(scheduled).isNotEmpty();
            scheduled.remove(0).run();
        }
        assertThat(acquire.answer())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(QueryTimeoutException.class);
    }

    @Test
    void lookAtAnAcquireWithoutAWaitTimeOnce() {
        Acquire acquire = acquire(command(BACKUP), false, clock.in(Duration.ZERO), clock);
        queue.add(acquire);

        deadlines.schedule(acquire);
        now.addAndGet(DECISION_TIMEOUT.toNanos());
        scheduled.remove(0).run();

        assertThat(pauses).containsExactly(DECISION_TIMEOUT.toNanos());
        assertThat(acquire.answer()).isCompletedExceptionally();
    }

    /** A grant may have been written; its caller must not read in the cause that nothing is held. */
    @Test
    void doNotSayThatNothingIsHeldWhileAGrantIsBeingWritten() {
        Acquire acquire = acquire(command(BACKUP), false, clock.in(Duration.ZERO), clock);
        queue.add(acquire);
        deadlines.schedule(acquire);
        Batch batch = queue.take(true, false);
        assertThat(batch.members()).containsExactly(acquire);
        assertThat(acquire.claim()).isTrue();

        while (!acquire.answer().isDone()) {
            now.addAndGet(DECISION_TIMEOUT.toNanos());
            scheduled.remove(0).run();
        }

        assertThat(acquire.answer())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(AcquireOutcomeUnknownException.class)
                .havingCause()
                .withMessageContaining("may have acquired the permits");
    }

    /** The database has answered others all the time. */
    @Test
    void sayThatThisJvmWasStopped() {
        Acquire acquire = acquire(command(BACKUP), true, clock.in(Duration.ofSeconds(30)), clock);
        queue.add(acquire);
        deadlines.schedule(acquire);
        acquire.moveTo(Acquire.Stage.LINE);
        now.addAndGet(Duration.ofMinutes(2).toNanos());

        while (!acquire.answer().isDone()) {
            scheduled.remove(0).run();
        }

        assertThat(acquire.answer())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(QueryTimeoutException.class)
                .withMessageContainingAll("backup", "this JVM was suspended", "Nothing is held");
    }

    /** It has waited for permits before, and the lock has delayed it for a moment only. */
    @Test
    void sayHowLongALockHasDelayedTheDecision() {
        Acquire acquire = acquire(command(BACKUP), true, clock.in(Duration.ofSeconds(30)), clock);
        acquire.moveTo(Acquire.Stage.LINE);
        now.addAndGet(Duration.ofSeconds(20).toNanos());
        acquire.moveTo(Acquire.Stage.READY);
        acquire.found(acquire.attempt().postponed("backup"));
        now.addAndGet(Duration.ofSeconds(2).toNanos());

        CannotAcquireLockException locked = acquire.locked(null);

        assertThat(locked).hasMessageContaining("tried for PT2S");
    }
}
