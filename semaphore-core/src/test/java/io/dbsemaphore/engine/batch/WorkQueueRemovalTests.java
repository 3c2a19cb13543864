package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;

/** Callers that leave: at the end of their wait time, of their own accord, or with permits that were handed to them. */
class WorkQueueRemovalTests extends WorkQueueFixture {

    private static final ReuseTerms TERMS =
            new ReuseTerms("backup", 1, false, true, Duration.ofMinutes(1), Duration.ofMinutes(5));

    private long now = 1;
    private final QueueClock clock = new QueueClock(() -> now, bound -> 0);

    @Test
    void answersTheRefusalOfACallerWhoseWaitHasEnded() {
        Acquire waiter = addWaiter();
        queue.tryOnceMore(waiter);

        assertThat(settleRefused(take()).acquires()).containsOnlyKeys(waiter);
    }

    /** A batch has claimed its acquire, so that it can no longer be withdrawn. */
    @Test
    void answersTheRefusalOfACallerThatWasToBeGivenUp() {
        Acquire waiter = addWaiter();
        Batch batch = take();
        assertThat(waiter.claim()).as("claimed").isEqualTo(true);
        assertThat(queue.cancel(waiter)).as("given up").isEqualTo(false);

        assertThat(settleRefused(batch).acquires()).containsOnlyKeys(waiter);
    }

    /** Otherwise it might be written once more when its caller is answered, who would be told that the outcome is unknown. */
    @Test
    void answersACallerThatWasToBeGivenUpWhenItHasWaitedForALockInVain() {
        Acquire acquire = withoutWaitTime(BACKUP);
        queue.add(acquire);
        Batch batch = take();
        assertThat(acquire.claim()).as("claimed").isEqualTo(true);
        assertThat(queue.cancel(acquire)).as("given up").isEqualTo(false);

        Settlement.Result settled = queue.finishFailed(
                batch,
                new CannotAcquireLockException("gap", new SQLException("Lock wait timeout exceeded", "40001", 1205)),
                true);

        assertThat(settled.acquires()).containsOnlyKeys(acquire);
        settled.acquires().get(acquire).run();
        assertThat(acquire.answer())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(CannotAcquireLockException.class)
                .withMessageContaining("Nothing is held");
    }

    @Test
    void answersARefusedCallerThatCannotBeLetWait() {
        Acquire waiter = waiter(Map.of("backup", 1, "copy", 1));
        queue.add(waiter);

        Settlement.Result result = settleRefused(take()); // which knows nothing of the second semaphore

        assertThat(result.acquires()).containsOnlyKeys(waiter);
        assertThat(queue.isAwaited("backup")).as("awaited").isEqualTo(false);
        result.acquires().get(waiter).run();
        assertThat(waiter.answer()).isCompletedExceptionally();
    }

    @Test
    void makesTheLastAttemptWithoutAPause() {
        WorkQueue pausing = queue(2, 500, clock);
        Acquire waiter = caller(Duration.ofMinutes(1));
        pausing.add(waiter);
        Settlement.Result unused = pausing.finishFailed(
                pausing.take(true, false), new DataAccessResourceFailureException("No connection"), false);
        assertThat(pausing.take(true, false).members()).as("in the pause").isEmpty();

        pausing.tryOnceMore(waiter);

        assertThat(pausing.take(true, false).members()).containsExactly(waiter);
    }

    /** They would go on keeping permits for it. */
    @Test
    void tellsOtherInstancesThatARefusedCallerIsGone() {
        Acquire waiter = addWaiter();
        refuseAll();

        assertThat(queue.cancel(waiter)).as("given up").isEqualTo(true);

        assertThat(queue.beginPoll().departed()).containsExactly("backup");
    }

    @Test
    void tellsOtherInstancesNothingOfCallersThatTheyCannotKnow() {
        Acquire queued = addWaiter();
        assertThat(queue.cancel(queued)).as("before it was refused").isEqualTo(true);
        queue.add(withoutWaitTime(BACKUP));
        refuseAll();

        assertThat(queue.beginPoll().departed()).isEmpty();
    }

    @Test
    void letsTheNextBeTriedWhenACallerIsGoneThatWaitedForMore() {
        Acquire first = waiter(Map.of("backup", 2));
        Acquire next = waiter(BACKUP);
        List.of(first, next).forEach(queue::add);
        PermitShortage shortage = new PermitShortage("backup", 3, 2, 2, Optional.empty());
        end(take(), Map.of("backup", Values.remaining(3, 2, 1, 7, 7)), new GrantOutcome.Refused(List.of(shortage)));
        assertThat(take().members()).as("while the first waits").isEmpty();

        assertThat(queue.cancel(first)).as("given up").isEqualTo(true);

        assertThat(take().members()).containsExactly(next);
    }

    @Test
    void handsPermitsToTheCallerThatWaitsLongest() {
        List<Acquire> waiters = waiters(2);
        waiters.forEach(this::addForReuse);
        refuseAll();

        WorkQueue.HandoverResult handed = queue.handOver(TERMS);

        assertThat(handed).isEqualTo(new WorkQueue.HandoverResult(HandoverOutcome.DONE, waiters.get(0), false));
        assertThat(waiters.get(0).stage()).isEqualTo(Acquire.Stage.DONE);
        assertThat(queue.released(BACKUP)).as("woken").isEqualTo(true);
        assertThat(take().members()).containsExactly(waiters.get(1));
    }

    @Test
    void tellsOtherInstancesThatThePermitsOfTheOnlyCallerWereHandedOver() {
        addForReuse(waiter(BACKUP));
        refuseAll();
        assertThat(queue.isAwaited("backup")).as("awaited").isEqualTo(true);

        assertThat(queue.handOver(TERMS).outcome()).isEqualTo(HandoverOutcome.DONE);

        assertThat(queue.isAwaited("backup")).as("awaited").isEqualTo(false);
        assertThat(queue.beginPoll().departed()).containsExactly("backup");
    }

    @Test
    void handsNothingToACallerThatAsksForOtherTerms() {
        Acquire waiter = waiter(BACKUP);
        addForReuse(waiter);
        refuseAll();
        ReuseTerms shorter = new ReuseTerms("backup", 1, false, true, Duration.ofSeconds(1), TERMS.maxHold());

        assertThat(queue.handOver(shorter).outcome()).isEqualTo(HandoverOutcome.NOT_POSSIBLE);

        assertThat(waiter.stage()).isEqualTo(Acquire.Stage.LINE);
    }

    @Test
    void handsNothingOverWhereNobodyWaits() {
        queue.add(withoutWaitTime(BACKUP));
        refuseAll();

        assertThat(queue.handOver(TERMS))
                .isEqualTo(new WorkQueue.HandoverResult(HandoverOutcome.NOBODY_WAITS, null, false));
    }

    /** After its wait time a caller awaits no more than a decision that a batch makes or delays. */
    @Test
    void tellsWhetherABatchMakesOrDelaysADecision() {
        Acquire waiting = addWaiter();
        refuseAll();
        Acquire decided = withoutWaitTime(BACKUP);
        queue.add(decided);
        assertThat(take().members()).containsExactly(decided);
        Acquire behind = withoutWaitTime(BACKUP);
        Acquire other = withoutWaitTime(Map.of("copy", 1));
        List.of(behind, other).forEach(queue::add);

        assertThat(queue.isInFlight(decided)).as("in the batch").isEqualTo(true);
        assertThat(queue.isInFlight(behind)).as("behind the batch").isEqualTo(true);
        assertThat(queue.isInFlight(other)).as("of another semaphore").isEqualTo(false);
        assertThat(queue.isInFlight(waiting)).as("waits for permits").isEqualTo(false);
    }

    @Test
    void remembersWhenTheWaitHasEnded() {
        Acquire early = caller(Duration.ofMinutes(1));
        Acquire inTime = caller(Duration.ofSeconds(1));
        Deadline deadline = inTime.deadline();
        assertThat(early.isWillingToWait()).as("at first").isEqualTo(true);
        assertThat(withoutWaitTime(BACKUP).isWillingToWait())
                .as("without a wait time")
                .isEqualTo(false);

        now += Duration.ofSeconds(2).toNanos();
        List.of(early, inTime).forEach(Acquire::endWait);

        assertThat(early.isWillingToWait()).as("when it is over").isEqualTo(false);
        assertThat(early.deadline()).isEqualTo(clock.in(Duration.ZERO));
        assertThat(inTime.deadline()).isEqualTo(deadline);
    }

    private Acquire caller(Duration waitTime) {
        return acquire(command(BACKUP), true, clock.in(waitTime), clock);
    }

    private void addForReuse(Acquire acquire) {
        acquire.reuse(TERMS, 1);
        queue.add(acquire);
    }

    private Settlement.Result settleRefused(Batch batch) {
        BatchResult refused = new BatchResult(
                List.of(new GrantOutcome.Refused(List.of(FULL))),
                available(0, 7),
                List.of(),
                Map.of(),
                queueClock.now());
        return queue.finish(batch, refused, 0);
    }
}
