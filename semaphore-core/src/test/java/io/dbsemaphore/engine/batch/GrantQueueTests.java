package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.Handover;
import io.dbsemaphore.domain.InstanceQueue;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.domain.Waiter;
import io.dbsemaphore.domain.WaitersElsewhere;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.unit.UnknownCommits;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;

class GrantQueueTests {

    private static final PermitShortage FULL = new PermitShortage("backup", 1, 1, 1, Optional.empty());

    private final GrantQueue queue =
            new GrantQueue(new BatchLimits(2, 500, 3, Duration.ofSeconds(5)), false, Values.FAIR, QueueClock.SYSTEM);

    @Test
    void isNotContendedByFewCallers() {
        add(3);
        AcquireBatch batch = queue.take(true, true, false);

        assertThat(batch.members()).hasSize(3);
        assertThat(queue.isContended()).isEqualTo(false);
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void isContendedByManyCallersAndBrieflyAfterwards() {
        add(4);
        AcquireBatch batch = queue.take(true, false, false);

        assertThat(queue.isContended()).isEqualTo(true);
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(true);

        end(queue, batch, Map.of(), new GrantOutcome.Withdrawn());

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !queue.isContended());
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void takesNoReleasesWhileAnotherInstanceLocksTheRows() {
        add(4);
        AcquireBatch first = queue.take(true, false, false);
        end(queue, first, Map.of(), new GrantOutcome.Postponed("backup"));
        AcquireBatch second = queue.take(true, false, false);

        assertThat(second.members()).hasSize(4);
        assertThat(queue.isContended()).isEqualTo(true);
        assertThat(queue.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void limitsTheBatchSize() {
        GrantQueue small =
                new GrantQueue(new BatchLimits(2, 5, 3, Duration.ofSeconds(5)), false, Values.FAIR, QueueClock.SYSTEM);
        waiters(12).forEach(small::add);

        AcquireBatch first = small.take(true, true, false);
        end(small, first, Map.of(), new GrantOutcome.Withdrawn());
        AcquireBatch second = small.take(true, true, false);

        assertThat(first.members()).hasSize(5);
        assertThat(second.members()).hasSize(5).doesNotContainAnyElementsOf(first.members());
    }

    /** The cost of a call must not depend on the number of waiters: with an iteration over all of them these take minutes. */
    @Test
    void isFastWithAHundredThousandWaiters() {
        List<QueuedAcquire> waiters = waiters(100_000);
        waiters.forEach(queue::add);
        AcquireBatch inFlight = queue.take(true, true, false);

        assertThat(timeOf(2_000, i -> {
                    assertThat(queue.nanosToWork()).isEqualTo(Long.MAX_VALUE);
                    assertThat(queue.hasKeptAlive()).isEqualTo(false);
                    assertThat(poll(0)).isEqualTo(false);
                }))
                .as("while a batch is in flight")
                .isLessThan(Duration.ofSeconds(3));

        refuse(inFlight);
        refuseAll();
        assertThat(timeOf(2_000, i -> {
                    assertThat(queue.tryOnceMore(waiters.get(waiters.size() - 1 - i)))
                            .isEqualTo(true);
                    assertThat(queue.nanosToWork()).isZero();
                    refuse(queue.take(true, true, false));
                }))
                .as("last attempts of the last in the queue")
                .isLessThan(Duration.ofSeconds(3));
        assertThat(timeOf(90_000, i -> assertThat(queue.giveUp(waiters.get(i))).isEqualTo(true)))
                .as("giving up")
                .isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void givesLastAttemptsUpThatWouldWaitForABatchAfterTheNext() {
        List<QueuedAcquire> waiters = waiters(AcquireRemoval.MAX_LAST_ATTEMPTS + 1);
        waiters.forEach(queue::add);
        refuseAll();

        List<QueuedAcquire> decided =
                waiters.stream().filter(queue::tryOnceMore).toList();

        assertThat(decided).isEqualTo(waiters.subList(0, AcquireRemoval.MAX_LAST_ATTEMPTS));
        assertThat(waiters.get(AcquireRemoval.MAX_LAST_ATTEMPTS)).satisfies(last -> {
            assertThat(last.isGivenUp()).isEqualTo(true);
            assertThat(last.lastShortages()).containsExactly(FULL);
        });
    }

    @Test
    void wakesAWaiterForPermitsThatABatchOfOthersFoundAvailable() {
        QueuedAcquire waiter = waiters(1).get(0);
        queue.add(waiter);
        refuseAll();
        QueuedAcquire withoutWaitTime =
                new QueuedAcquire(new AcquireState(command()), Deadline.in(Duration.ZERO), QueueClock.SYSTEM);
        queue.add(withoutWaitTime);
        AcquireBatch refused = queue.take(true, true, false);

        assertThat(poll(1)).as("while a batch is in flight").isEqualTo(false);
        end(queue, refused, available(1, 7), new GrantOutcome.Refused(List.of(FULL)));

        assertThat(refused.members()).containsExactly(withoutWaitTime);
        assertThat(queue.take(true, true, false).members()).containsExactly(waiter);
    }

    @Test
    void wakesOneWaiterPerReleasedPermit() {
        List<QueuedAcquire> waiters = waiters(3);
        waiters.forEach(queue::add);
        refuseAll();
        queue.released(Map.of("backup", 1));
        AcquireBatch first = queue.take(true, true, false);
        queue.released(Map.of("backup", 1)); // the second is woken for this one
        end(queue, first, available(0, 8), new GrantOutcome.Withdrawn());

        assertThat(first.members()).containsExactly(waiters.get(0));
        assertThat(queue.take(true, true, false).members()).containsExactly(waiters.get(1));
    }

    @Test
    void addsANewAcquireToTheWaitQueueBehindOthers() {
        QueuedAcquire first = waiters(1).get(0);
        queue.add(first);
        refuseAll();
        QueuedAcquire added = waiters(1).get(0);

        assertThat(queue.add(added)).as("to be tried").isEqualTo(false);

        assertThat(queue.take(true, true, false).members()).isEmpty();
        queue.released(Map.of("backup", 2));
        assertThat(queue.take(true, true, false).members()).containsExactly(first, added);
    }

    @Test
    void wakesWaitersForWhichTheDatabaseWasNotAsked() {
        QueuedAcquire first = waiters(1).get(0);
        queue.add(first);
        refuseAll();
        long asOf = System.nanoTime();
        queue.add(waiters(1).get(0));

        assertThat(queue.waiters().polled(Map.of("backup", Values.polled(1, 0, 1, 0)), asOf))
                .isEqualTo(true);
        assertThat(queue.take(true, true, false).members()).containsExactly(first);
    }

    @Test
    void triesANewAcquireWhoseAnswerIsUnknown() {
        queue.add(waiters(1).get(0));
        refuseAll();

        assertThat(queue.add(willingToWait(command("copy", 1), Duration.ofMinutes(1))))
                .as("no caller waits for it")
                .isEqualTo(true);
        assertThat(queue.add(willingToWait(command("backup", 2), Duration.ofMinutes(1))))
                .as("more than the capacity")
                .isEqualTo(true);
        assertThat(queue.add(willingToWait(command("backup", 1), Duration.ofMillis(500))))
                .as("the poller may not run while it waits")
                .isEqualTo(true);
        assertThat(queue.add(new QueuedAcquire(
                        new AcquireState(command("backup", 1)), Deadline.in(Duration.ofMinutes(1)), QueueClock.SYSTEM)))
                .as("it does not wait")
                .isEqualTo(true);
        AcquireCommand repeated = new AcquireCommand("id", true, true, Map.of("backup", 1), false, null, "test", null);
        assertThat(queue.add(willingToWait(repeated, Duration.ofMinutes(1))))
                .as("it may have been granted before")
                .isEqualTo(true);
    }

    @Test
    void triesANewAcquireWithoutARecentAnswerOfTheDatabase() {
        queue.add(waiters(1).get(0));
        refuseAll();

        Awaitility.await()
                .pollInterval(Duration.ofMillis(5))
                .atMost(Duration.ofSeconds(10))
                .until(() -> queue.add(waiters(1).get(0)));
    }

    @Test
    void refusesNoAcquireForWhichTheDatabaseWasNotAsked() {
        List<QueuedAcquire> refused = waiters(AcquireRemoval.MAX_LAST_ATTEMPTS);
        refused.forEach(queue::add);
        refuseAll();
        List<QueuedAcquire> unasked = waiters(2);
        unasked.forEach(queue::add);
        refused.forEach(queue::tryOnceMore);

        assertThat(queue.tryOnceMore(unasked.get(0))).as("to be tried").isEqualTo(true);
        boolean unused = queue.waiters().polled(Map.of("backup", Values.polled(7, 9, -2, 0)), System.nanoTime());
        assertThat(queue.tryOnceMore(unasked.get(1))).as("to be tried").isEqualTo(false);

        assertThat(unasked.get(0).lastShortages()).isEmpty();
        assertThat(unasked.get(1).lastShortages())
                .containsExactly(new PermitShortage("backup", 7, 9, 1, Optional.empty()));
    }

    @Test
    void wakesTheFirstWaiterForWhatWasReleasedWhileItWasRefused() {
        QueuedAcquire waiter = waiters(1).get(0);
        queue.add(waiter);
        AcquireBatch refused = queue.take(true, true, false);
        queue.released(Map.of("backup", 1));
        refuse(refused);

        assertThat(queue.take(true, true, false).members()).containsExactly(waiter);
    }

    @Test
    void wakesWhoeverIsNextInAnotherWaitQueueThatAWokenCallerLeaves() {
        QueuedAcquire both = willingToWait(command(Map.of("backup", 2, "copy", 1)), Duration.ofMinutes(1));
        QueuedAcquire next = waiters(1).get(0);
        queue.add(both);
        queue.add(next);
        PermitShortage backup = new PermitShortage("backup", 3, 3, 2, Optional.empty());
        PermitShortage copy = new PermitShortage("copy", 1, 1, 1, Optional.empty());
        end(
                queue,
                queue.take(true, true, false),
                new BatchResult(
                        List.of(
                                new GrantOutcome.Refused(List.of(backup, copy)),
                                new GrantOutcome.Refused(List.of(backup))),
                        Map.of("backup", Values.remaining(3, 3, 0, 7, 7)),
                        List.of(),
                        Set.of()));
        queue.released(Map.of("backup", 3));
        assertThat(queue.take(true, true, false).members()).as("copy is full").isEmpty();

        queue.released(Map.of("copy", 1));

        assertThat(queue.take(true, true, false).members()).containsExactly(both, next);
    }

    @Test
    void takesNoMoreNamesAtOnceThanTheMaximum() {
        for (int i = 0; i < 70; i++) {
            int caller = i;
            queue.add(new QueuedAcquire(
                    new AcquireState(command(IntStream.range(0, 3)
                            .boxed()
                            .collect(Collectors.toMap(name -> caller + "-" + name, name -> 1)))),
                    Deadline.in(Duration.ZERO),
                    QueueClock.SYSTEM));
        }

        AcquireBatch first = queue.take(true, false, false);
        AcquireBatch second = queue.take(true, false, false);

        assertThat(first.names()).hasSize(198);
        assertThat(second.members()).hasSize(4);
    }

    @Test
    void undoesWhatACallerMayHaveBeenGrantedThatIsGone() {
        QueuedAcquire gone = waiters(1).get(0);
        queue.add(gone);
        AcquireBatch batch = queue.take(true, true, false);
        assertThat(gone.state().claim()).isEqualTo(true);
        assertThat(queue.abandon(gone)).as("left").isEqualTo(false);

        assertThat(queue.finishFailed(batch, UnknownCommits.brokenByAnError(), true)
                        .toUndo())
                .containsExactly(gone.state());
    }

    @Test
    void doesNotTryAgainForACallerThatIsGone() {
        QueuedAcquire gone = waiters(1).get(0);
        queue.add(gone);
        AcquireBatch batch = queue.take(true, true, false);
        gone.state().setOutcomeUnknown(true);
        assertThat(gone.state().claim()).isEqualTo(true);
        assertThat(queue.abandon(gone)).as("left").isEqualTo(false);

        assertThat(queue.finishFailed(batch, new PartialReleaseException(), true)
                        .toUndo())
                .containsExactly(gone.state());
        assertThat(queue.close()).isEmpty();
    }

    @Test
    void hasNoWorkWhereAPauseEndsWhileABatchIsInFlight() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        GrantQueue pausing =
                new GrantQueue(new BatchLimits(3, 500, 3, Duration.ofSeconds(5)), false, Values.FAIR, clock);
        pausing.add(new QueuedAcquire(waiting(command()), Deadline.NEVER, clock));
        BatchSettlement.Result unused = pausing.finishFailed(
                pausing.take(true, true, false), new DataAccessResourceFailureException("No connection"), false);
        long pause = pausing.nanosToWork();
        pausing.add(new QueuedAcquire(waiting(command()), Deadline.NEVER, clock));
        AcquireBatch inFlight = pausing.take(true, true, false);
        now.addAndGet(pause);

        assertThat(inFlight.members()).hasSize(1);
        assertThat(pause).isPositive();
        assertThat(pausing.nanosToWork()).isEqualTo(Long.MAX_VALUE);
        assertThat(pausing.take(true, true, false).members()).isEmpty();
    }

    @Test
    void countsWhatIsReleasedForEachBatchInFlight() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        GrantQueue stalling =
                new GrantQueue(new BatchLimits(3, 500, 3, Duration.ofSeconds(5)), false, Values.FAIR, clock);
        QueuedAcquire both =
                new QueuedAcquire(waiting(command(Map.of("backup", 1, "copy", 1))), Deadline.in(Duration.ZERO), clock);
        stalling.add(both);
        end(stalling, stalling.take(true, false, false), Map.of(), new GrantOutcome.Postponed("copy"));
        AcquireBatch stalled = stalling.take(true, true, false);
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        QueuedAcquire waiter = new QueuedAcquire(waiting(command()), Deadline.NEVER, clock);
        stalling.add(waiter);
        AcquireBatch other = stalling.take(true, true, false);
        stalling.released(Map.of("backup", 1)); // after both have asked
        end(stalling, stalled, available(0, 8), new GrantOutcome.Withdrawn());
        end(stalling, other, available(0, 8), new GrantOutcome.Refused(List.of(FULL)));

        assertThat(stalled.awaited()).containsExactly("copy");
        assertThat(other.members()).containsExactly(waiter);
        assertThat(stalling.take(true, true, false).members()).containsExactly(waiter);
    }

    /** The first caller is tried for permits that may be reclaimed: the others keep their place behind another instance. */
    @Test
    void handsNothingOverWhileACallerOfAnotherInstanceIsNext() {
        ReuseTerms terms = new ReuseTerms("backup", 1, Duration.ofMinutes(1), Duration.ofMinutes(5));
        List<QueuedAcquire> waiters = waiters(2);
        waiters.forEach(waiter -> {
            waiter.state().reuse(terms, 1);
            queue.add(waiter);
        });
        end(
                queue,
                queue.take(true, true, false),
                Map.of("backup", new RemainingAvailability(1, 1, 0, 7, 7, Values.NOW, earlierCallerElsewhere())),
                new GrantOutcome.Refused(List.of(FULL)));

        assertThat(queue.waiters().wakeFirst(Set.of("backup"))).isEqualTo(true);

        assertThat(queue.take(true, true, false).members()).containsExactly(waiters.get(0));
        AcquireAnswer answer = new AcquireAnswer(new GrantOutcome.Withdrawn(), 0, 0);
        assertThat(queue.handOver(terms, answer).outcome()).isEqualTo(Handover.NOT_POSSIBLE);
    }

    private static WaitersElsewhere earlierCallerElsewhere() {
        Waiter earlier = new Waiter(Waiter.micros(Values.NOW) - 1, 1, false);
        InstanceQueue queue = new InstanceQueue(1, 2, List.of(earlier), 1, Values.NOW.plusSeconds(1));
        return WaitersElsewhere.of(List.of(queue), Values.FAIR.instance(), Values.NOW);
    }

    private static AcquireState waiting(AcquireCommand command) {
        AcquireState state = new AcquireState(command);
        state.setWillingToWait(true);
        return state;
    }

    private static QueuedAcquire willingToWait(AcquireCommand command, Duration waitTime) {
        AcquireState state = new AcquireState(command);
        state.setWillingToWait(true);
        return new QueuedAcquire(state, Deadline.in(waitTime), QueueClock.SYSTEM);
    }

    private boolean poll(long available) {
        return queue.waiters()
                .polled(Map.of("backup", Values.polled(1, 1 - available, available, 0)), System.nanoTime());
    }

    private static List<QueuedAcquire> waiters(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> willingToWait(command(), Duration.ofMinutes(1)))
                .toList();
    }

    private static Duration timeOf(int times, IntConsumer task) {
        long start = System.nanoTime();
        IntStream.range(0, times).forEach(task);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private void refuseAll() {
        for (AcquireBatch batch = queue.take(true, true, false);
                !batch.members().isEmpty();
                batch = queue.take(true, true, false)) {
            refuse(batch);
        }
    }

    private void refuse(AcquireBatch batch) {
        end(queue, batch, available(0, 7), new GrantOutcome.Refused(List.of(FULL)));
    }

    private static Map<String, RemainingAvailability> available(long free, long fence) {
        return Map.of("backup", Values.remaining(1, 1 - free, free, 7, fence));
    }

    private static void end(
            GrantQueue queue, AcquireBatch batch, Map<String, RemainingAvailability> left, GrantOutcome outcome) {
        List<GrantOutcome> outcomes = Collections.nCopies(batch.members().size(), outcome);
        BatchSettlement.Result unused = queue.finish(batch, new BatchResult(outcomes, left, List.of(), Set.of()), 0);
    }

    private static void end(GrantQueue queue, AcquireBatch batch, BatchResult result) {
        BatchSettlement.Result unused = queue.finish(batch, result, 0);
    }

    private void add(int acquires) {
        IntStream.range(0, acquires)
                .forEach(i -> queue.add(
                        new QueuedAcquire(new AcquireState(command()), Deadline.in(Duration.ZERO), QueueClock.SYSTEM)));
    }

    private static AcquireCommand command() {
        return command("backup", 1);
    }

    private static AcquireCommand command(Map<String, Integer> permits) {
        return new AcquireCommand(UUID.randomUUID().toString(), false, true, permits, false, null, "test", null);
    }

    private static AcquireCommand command(String name, int count) {
        return new AcquireCommand(
                UUID.randomUUID().toString(), false, true, Map.of(name, count), false, null, "test", null);
    }
}
