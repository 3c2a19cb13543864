package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.persistence.unit.UnknownCommits;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;

/** The batches that the queue hands out, and whether its callers contend. */
class WorkQueueTests extends WorkQueueFixture {

    private final CannotAcquireLockException deadlock =
            new CannotAcquireLockException("Deadlock", new SQLException("Deadlock", "40001", 1213));

    private final AtomicLong now = new AtomicLong();
    private final QueueClock clock = new QueueClock(now::get, bound -> bound - 1);
    private final WorkQueue pausing = queue(3, 500, clock);

    @Test
    void isNotContendedByFewCallers() {
        add(3);

        assertThat(take().members()).hasSize(3);
        assertThat(queue.isBusy()).isEqualTo(false);
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void isContendedByManyCallersAndBrieflyAfterwards() {
        add(4);
        Batch batch = queue.take(true, false);

        assertThat(queue.isBusy()).isEqualTo(true);
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(true);

        end(batch, Map.of(), new GrantOutcome.Withdrawn());

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !queue.isBusy());
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void takesNoReleasesWhileAnotherInstanceLocksTheRows() {
        add(4);
        Batch first = queue.take(true, false);
        end(first, Map.of(), new GrantOutcome.Postponed("backup"));
        Batch second = queue.take(true, false);

        assertThat(second.members()).hasSize(4);
        assertThat(queue.isBusy()).isEqualTo(true);
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void limitsTheBatchSize() {
        WorkQueue small = queue(2, 5, QueueClock.SYSTEM);
        waiters(12).forEach(small::add);

        Batch first = small.take(true, false);
        end(small, first, Map.of(), new GrantOutcome.Withdrawn());
        Batch second = small.take(true, false);

        assertThat(first.members()).hasSize(5);
        assertThat(second.members()).hasSize(5).doesNotContainAnyElementsOf(first.members());
    }

    @Test
    void takesNoMoreNamesAtOnceThanTheMaximum() {
        for (int i = 0; i < 70; i++) {
            queue.add(withoutWaitTime(Map.of(i + "-a", 1, i + "-b", 1, i + "-c", 1)));
        }

        Batch first = queue.take(true, false);
        Batch second = queue.take(true, false);

        assertThat(first.names()).hasSize(198);
        assertThat(second.members()).hasSize(4);
    }

    @Test
    void undoesWhatACallerMayHaveBeenGrantedThatIsGone() {
        Acquire gone = addWaiter();
        Batch batch = take();
        assertThat(gone.claim()).isEqualTo(true);
        assertThat(queue.abandon(gone)).as("left").isEqualTo(false);

        Settlement.Result settled = queue.finishFailed(batch, UnknownCommits.brokenByAnError(), true);
        assertThat(settled.toUndo()).containsExactly(gone);
    }

    /** Other instances are told by the next poll. */
    @Test
    void forgetsACallerWhoseBatchFails() {
        Acquire waiter = waiters(1).get(0);
        queue.add(waiter);
        refuseAll();
        boolean unused = queue.tryFirst(Set.of("backup"));
        Batch batch = queue.take(true, false);

        assertThat(queue.finishFailed(batch, new IllegalStateException("Not again"), true)
                        .acquires())
                .containsOnlyKeys(waiter);

        assertThat(queue.beginPoll().departed()).containsExactly("backup");
    }

    @Test
    void doesNotTryAgainForACallerThatIsGone() {
        Acquire gone = addWaiter();
        Batch batch = take();
        gone.found(gone.attempt().unknown());
        assertThat(gone.claim()).isEqualTo(true);
        assertThat(queue.abandon(gone)).as("left").isEqualTo(false);

        Settlement.Result settled = queue.finishFailed(batch, deadlock, true);
        assertThat(settled.toUndo()).containsExactly(gone);
        assertThat(queue.close()).isEmpty();
    }

    /** The attempt had claimed it, and has written nothing. */
    @Test
    void canGiveUpACallerDuringTheAttemptAfterOneThatFailed() {
        Acquire acquire = addWaiter();
        Batch batch = take();
        assertThat(acquire.claim()).as("claimed").isEqualTo(true);

        Settlement.Result settled = queue.finishFailed(batch, deadlock, true);

        assertThat(settled.acquires()).isEmpty();
        Awaitility.await("the next attempt").until(() -> take().members().contains(acquire));
        assertThat(queue.cancel(acquire)).as("given up").isEqualTo(true);
    }

    /** The commit before may have granted it. */
    @Test
    void doesNotGiveUpACallerOfUnknownOutcomeDuringThatAttempt() {
        Acquire acquire = addWaiter();
        Batch batch = take();
        assertThat(acquire.claim()).as("claimed").isEqualTo(true);
        acquire.found(acquire.attempt().unknown());

        Settlement.Result settled = queue.finishFailed(batch, deadlock, true);

        assertThat(settled.acquires()).isEmpty();
        Awaitility.await("the next attempt").until(() -> take().members().contains(acquire));
        assertThat(queue.cancel(acquire)).as("given up").isEqualTo(false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void doesNotTellACallerThatGivesUpTheFailureOfAnother(boolean locked) {
        Acquire impatient = withoutWaitTime(BACKUP);
        AcquireCommand ofOther =
                new AcquireCommand("id", locked, true, Map.of("copy", 1), false, null, "test", null, null);
        Acquire other = acquire(ofOther, false, Deadline.in(Duration.ZERO), QueueClock.SYSTEM);
        List.of(impatient, other).forEach(queue::add);
        Batch batch = take();
        assertThat(batch.members()).containsExactly(impatient, other);
        batch.members().forEach(each -> assertThat(each.claim()).isEqualTo(true));
        assertThat(queue.cancel(impatient)).as("given up").isEqualTo(false);

        Settlement.Result settled = queue.finishFailed(
                batch,
                locked
                        ? new CannotAcquireLockException("Waited", new SQLException("Lock wait timeout", "40001", 1205))
                        : new IllegalArgumentException("Something of the other"),
                true);

        assertThat(settled.acquires()).doesNotContainKey(impatient);
        Awaitility.await("the next attempt").until(() -> take().members().contains(impatient));
    }

    /** Otherwise it is being written again, and its outcome unknown, whenever its caller looks. */
    @Test
    void doesNotRepeatTheLastAttemptOfACallerThatGivesUp() {
        Acquire impatient = withoutWaitTime(BACKUP);
        queue.add(impatient);
        Batch batch = take();
        assertThat(impatient.claim()).isEqualTo(true);
        assertThat(queue.cancel(impatient)).as("given up").isEqualTo(false);

        Map<Acquire, Runnable> answers =
                queue.finishFailed(batch, deadlock, true).acquires();

        assertThat(answers).containsOnlyKeys(impatient);
        answers.get(impatient).run();
        assertThat(impatient.answer()).isCompletedExceptionally();
        assertThat(queue.close()).isEmpty();
    }

    @Test
    void hasNoWorkUntilTheBatchStallsWhereAPauseEndsWhileItIsInFlight() {
        pausing.add(acquire(command(BACKUP), true, Deadline.NEVER, clock));
        Settlement.Result unused = pausing.finishFailed(
                pausing.take(true, false), new DataAccessResourceFailureException("No connection"), false);
        long pause = pausing.nanosToWork();
        pausing.add(acquire(command(BACKUP), true, Deadline.NEVER, clock));
        Batch inFlight = pausing.take(true, false);
        now.addAndGet(pause);

        assertThat(inFlight.members()).hasSize(1);
        assertThat(pause).isPositive();
        assertThat(Duration.ofNanos(pausing.nanosToWork() + pause))
                .isBetween(Duration.ofMillis(250), Duration.ofMillis(251));
        assertThat(pausing.take(true, false).members()).isEmpty();
    }

    @Test
    void hasWorkWhenABatchStallsThatKeepsASemaphoreForWhichItDoesNotWait() {
        WorkQueue stalling = queue(3, 500, clock);
        stalling.add(acquire(command(Map.of("backup", 1, "copy", 1)), true, Deadline.in(Duration.ZERO), clock));
        end(stalling, stalling.take(true, false), Map.of(), new GrantOutcome.Postponed("copy"));
        Batch waitsForCopy = stalling.take(true, false);
        Acquire kept = acquire(command(BACKUP), true, Deadline.NEVER, clock);
        stalling.add(kept);

        long toStall = stalling.nanosToWork();

        assertThat(waitsForCopy.awaited()).containsExactly("copy");
        assertThat(Duration.ofNanos(toStall)).isBetween(Duration.ofMillis(250), Duration.ofMillis(251));
        now.addAndGet(toStall);
        assertThat(stalling.nanosToWork()).isZero();
        assertThat(stalling.take(true, false).members()).containsExactly(kept);
    }

    @Test
    void tellsOtherInstancesOfCallersThatALaterBatchDecides() {
        WorkQueue small = queue(2, 1, clock);
        for (int i = 0; i < 3; i++) {
            small.add(acquire(command(BACKUP), true, Deadline.NEVER, clock));
            end(small, small.take(true, false), available(0, 7), new GrantOutcome.Refused(List.of(FULL)));
        }
        small.released(Map.of("backup", 3));

        Batch batch = small.take(true, false);

        assertThat(batch.members()).hasSize(1);
        assertThat(batch.queues().of("backup").size()).isEqualTo(2);
        assertThat(batch.queues().of("backup").first()).hasSize(2);
    }

    @Test
    void letsNobodyOvertakeACallerWhoseRowIsLockedAgain() {
        pausing.add(acquire(command(Map.of("copy", 1)), true, Deadline.NEVER, clock));
        Batch waitsForCopy = pausing.take(true, false);
        Acquire first = acquire(command(BACKUP), true, Deadline.NEVER, clock);
        pausing.add(first);
        for (int i = 0; i < 2; i++) {
            end(pausing, pausing.take(true, true), Map.of(), new GrantOutcome.Postponed("backup"));
        }
        Acquire later = acquire(command(BACKUP), false, Deadline.NEVER, clock);
        pausing.add(later);

        assertThat(waitsForCopy.awaitsRow()).isEqualTo(true);
        assertThat(pausing.take(true, true).members()).as("at once").isEmpty();
        assertThat(Duration.ofNanos(pausing.nanosToWork())).isBetween(Duration.ofMillis(2), Duration.ofMillis(20));
        now.addAndGet(pausing.nanosToWork());
        assertThat(pausing.take(true, true).members()).containsExactly(first, later);
    }

    @ParameterizedTest(name = "takes releases: {0}")
    @ValueSource(booleans = {false, true}) // then it waits for no row
    void hasWorkWhenABatchStallsBehindWhichASemaphoreIsReserved(boolean takesReleases) {
        WorkQueue stalling = queue(3, 500, clock);
        stalling.add(acquire(command(BACKUP), true, Deadline.NEVER, clock));
        Batch inFlight = stalling.take(true, takesReleases);
        stalling.add(acquire(command(Map.of("backup", 1, "copy", 1)), true, Deadline.NEVER, clock));
        Acquire free = acquire(command(Map.of("copy", 1)), true, Deadline.NEVER, clock);
        stalling.add(free);

        long toStall = stalling.nanosToWork();

        assertThat(inFlight.awaitsRow()).isEqualTo(!takesReleases);
        assertThat(Duration.ofNanos(toStall)).isBetween(Duration.ofMillis(250), Duration.ofMillis(251));
        now.addAndGet(toStall);
        assertThat(stalling.nanosToWork()).isZero();
        assertThat(stalling.take(true, false).members()).containsExactly(free);
    }

    @Test
    void looksAgainAfterAPauseThatEndsDuringTheLook() {
        for (int nanos = 0; nanos < 30; nanos++) {
            long pause = nanos;
            QueueClock ticking = new QueueClock(now::incrementAndGet, bound -> Math.min(pause, bound - 1));
            WorkQueue conflicting = queue(2, 500, ticking);
            conflicting.add(acquire(command(BACKUP), false, Deadline.NEVER, ticking));
            Settlement.Result unused = conflicting.finishFailed(conflicting.take(true, false), deadlock, true);

            assertThat(conflicting.nanosToWork()).as("a pause of %d ns", nanos).isLessThan(Long.MAX_VALUE);
        }
    }

    @Test
    void looksAgainAtABatchThatStallsDuringTheLook() {
        QueueClock ticking = new QueueClock(now::incrementAndGet, bound -> bound - 1);
        for (int before = 0; before < 40; before++) {
            WorkQueue stalling = queue(3, 500, ticking);
            stalling.add(acquire(command(Map.of("backup", 1, "copy", 1)), true, Deadline.NEVER, ticking));
            end(stalling, stalling.take(true, false), Map.of(), new GrantOutcome.Postponed("copy"));
            Batch waitsForCopy = stalling.take(true, false);
            stalling.add(acquire(command(BACKUP), true, Deadline.NEVER, ticking));
            now.set(waitsForCopy.startedAt() + Duration.ofMillis(250).toNanos() - before);

            assertThat(stalling.nanosToWork()).as("%d ns before", before).isLessThan(Long.MAX_VALUE);
        }
    }

    @Test
    void countsWhatIsReleasedForEachBatchInFlight() {
        WorkQueue stalling = queue(3, 500, clock);
        stalling.add(acquire(command(Map.of("backup", 1, "copy", 1)), true, Deadline.in(Duration.ZERO), clock));
        end(stalling, stalling.take(true, false), Map.of(), new GrantOutcome.Postponed("copy"));
        Batch stalled = stalling.take(true, false);
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        Acquire waiter = acquire(command(BACKUP), true, Deadline.NEVER, clock);
        stalling.add(waiter);
        Batch other = stalling.take(true, false);
        stalling.released(Map.of("backup", 1)); // after both have asked
        end(stalling, stalled, available(0, 8), new GrantOutcome.Withdrawn());
        end(stalling, other, available(0, 8), new GrantOutcome.Refused(List.of(FULL)));

        assertThat(stalled.awaited()).containsExactly("copy");
        assertThat(other.members()).containsExactly(waiter);
        assertThat(stalling.take(true, false).members()).containsExactly(waiter);
    }

    /** Unless that delays many callers, or releases, which others may wait for. */
    @Test
    void waitsForTheRowOfTheOnlySemaphoreAtFirst() {
        assertThat(first(1, BACKUP, false).awaited()).containsExactly("backup");
        assertThat(first(1, BACKUP, true).awaited()).as("with releases").isEmpty();
        assertThat(first(4, BACKUP, false).awaited()).as("many callers").isEmpty();
        assertThat(first(1, Map.of("backup", 1, "copy", 1), false).awaited())
                .as("holds one and waits for the other")
                .isEmpty();
    }

    @Test
    void tellsWhoseDecisionIsDelayedByTheLockOfARow() {
        assertThat(first(1, BACKUP, false).members().get(0).isLocked())
                .as("waits for the row")
                .isEqualTo(true);
        Acquire acquire = withoutWaitTime(BACKUP);
        queue.add(acquire);
        Batch batch = queue.take(true, true); // takes releases along, and therefore does not wait
        assertThat(acquire.isLocked()).as("does not wait").isEqualTo(false);

        end(batch, Map.of(), new GrantOutcome.Postponed("backup"));

        assertThat(acquire.isLocked()).as("found it locked").isEqualTo(true);
    }

    private static Batch first(int acquires, Map<String, Integer> permits, boolean takesReleases) {
        WorkQueue fresh = queue(2, 500, QueueClock.SYSTEM);
        IntStream.range(0, acquires).forEach(i -> fresh.add(withoutWaitTime(permits)));
        return fresh.take(true, takesReleases);
    }

    @Test
    void answersTheCallersOfABatchWhoseResultCannotBeProcessed() {
        List<Acquire> waiters = addWaiters(2);
        List<GrantOutcome> broken = List.of(new GrantOutcome.Refused(null), new GrantOutcome.Refused(null));

        Map<Acquire, Runnable> decided = queue.finish(
                        take(), new BatchResult(broken, available(0, 7), List.of(), Map.of(), queueClock.now()), 0)
                .acquires();

        assertThat(decided).containsOnlyKeys(waiters);
        decided.values().forEach(Runnable::run);
        assertThat(waiters).allSatisfy(waiter -> assertThat(waiter.answer()).isCompletedExceptionally());
    }

    @Test
    void pausesOnlyTheSemaphoresOfAConflict() {
        Acquire loser = caller(BACKUP, true);
        pausing.add(loser);
        long pause = pauseAfterConflict();
        Acquire other = caller(Map.of("copy", 1), false);
        List.of(caller(Map.of("backup", 1, "copy", 1), false), other).forEach(pausing::add);

        assertThat(pause).isPositive();
        assertThat(pausing.take(true, false).members()).containsExactly(other);
        now.addAndGet(pause);
        assertThat(pausing.take(true, false).members()).contains(loser);
    }

    @Test
    void pausesLongerAfterEachConflictUntilABatchHasGranted() {
        pausing.add(caller(BACKUP, true));
        long first = pauseAfterConflict();
        now.addAndGet(first);
        long second = pauseAfterConflict();
        now.addAndGet(second);
        end(pausing, pausing.take(true, false), available(0, 8), new GrantOutcome.Withdrawn());
        pausing.add(caller(BACKUP, true));

        assertThat(second).isGreaterThan(first);
        assertThat(pauseAfterConflict()).isEqualTo(first);
    }

    private Acquire caller(Map<String, Integer> permits, boolean willingToWait) {
        return acquire(command(permits), willingToWait, Deadline.NEVER, clock);
    }

    private long pauseAfterConflict() {
        Settlement.Result unused = pausing.finishFailed(pausing.take(true, false), deadlock, true);
        return pausing.nanosToWork();
    }

    @Test
    void triesACallerThatDoesNotWaitAgainAfterAnyNumberOfConflicts() {
        Acquire acquire = caller(BACKUP, false);
        pausing.add(acquire);
        for (int conflicts = 0; conflicts < 50; conflicts++) {
            assertThat(acquire.attempt().isIsolated()).as("tried alone").isEqualTo(conflicts >= 3);
            now.addAndGet(pauseAfterConflict());
        }

        assertThat(acquire.stage()).as("answered").isEqualTo(Acquire.Stage.READY);
        assertThat(acquire.attempt().failure()).isSameAs(deadlock);
        assertThat(pausing.cancel(acquire)).as("ended by its deadline").isEqualTo(true);
    }

    @Test
    void pausesLongerAfterEachLostConnection() {
        pausing.add(caller(BACKUP, true));
        long first = pauseWithoutConnection();
        now.addAndGet(first);

        assertThat(pauseWithoutConnection()).isGreaterThan(first);
    }

    private long pauseWithoutConnection() {
        Settlement.Result unused =
                pausing.finishFailed(pausing.take(true, false), new DataAccessResourceFailureException("Lost"), false);
        return pausing.nanosToWork();
    }

    private void add(int acquires) {
        IntStream.range(0, acquires).forEach(i -> queue.add(withoutWaitTime(BACKUP)));
    }
}
