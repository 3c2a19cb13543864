package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;

/** Which acquires wait, which of those are woken, and which get no further attempt. */
class WorkQueueWaitTests extends WorkQueueFixture {

    /** The cost of a call must not depend on the number of waiters: with an iteration over all of them these take minutes. */
    @Test
    void isFastWithAHundredThousandWaiters() {
        List<Acquire> waiters = addWaiters(100_000);
        Batch inFlight = take();

        assertThat(timeOf(2_000, i -> {
                    assertThat(queue.nanosToWork()).isPositive();
                    assertThat(queue.hasKeptAlive()).isEqualTo(false);
                    assertThat(poll(0, System.nanoTime())).isEqualTo(false);
                }))
                .as("while a batch is in flight")
                .isLessThan(Duration.ofSeconds(3));

        refuse(inFlight);
        refuseAll();
        assertThat(timeOf(2_000, i -> {
                    queue.tryOnceMore(waiters.get(waiters.size() - 1 - i));
                    assertThat(queue.nanosToWork()).isZero();
                    refuse(take());
                }))
                .as("last attempts of the last in the queue")
                .isLessThan(Duration.ofSeconds(3));
        assertThat(timeOf(90_000, i -> assertThat(queue.cancel(waiters.get(i))).isEqualTo(true)))
                .as("giving up")
                .isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void addsANewAcquireToTheLineBehindOthers() {
        slowDown();
        Acquire first = addWaiter();
        refuseAll();
        Acquire added = waiter(BACKUP);

        assertThat(queue.add(added)).as("to be tried").isEqualTo(false);

        assertThat(take().members()).isEmpty();
        queue.released(Map.of("backup", 2));
        assertThat(take().members()).containsExactly(first, added);
    }

    @Test
    void triesANewAcquireWhoseAnswerIsUnknown() {
        addWaiter();
        refuseAll();
        AcquireCommand command = new AcquireCommand("id", true, true, BACKUP, false, null, "test", null, null);

        assertTried("no caller waits for it", command(Map.of("copy", 1)), true, Duration.ofMinutes(1));
        assertTried("more than the capacity", command(Map.of("backup", 2)), true, Duration.ofMinutes(1));
        assertTried("the poller may not run while it waits", command(BACKUP), true, Duration.ofMillis(500));
        assertTried("it does not wait", command(BACKUP), false, Duration.ofMinutes(1));
        assertTried("it may have been granted before", command, true, Duration.ofMinutes(1));
    }

    private void assertTried(String reason, AcquireCommand command, boolean waits, Duration waitTime) {
        assertThat(queue.add(acquire(command, waits, Deadline.in(waitTime), QueueClock.SYSTEM)))
                .as(reason)
                .isEqualTo(true);
    }

    @Test
    void triesANewAcquireWithoutARecentAnswerOfTheDatabase() {
        addWaiter();
        refuseAll();

        Awaitility.await()
                .pollInterval(Duration.ofMillis(5))
                .atMost(Duration.ofSeconds(10))
                .until(() -> queue.add(waiter(BACKUP)));
    }

    @Test
    void refusesNoAcquireForWhichTheDatabaseWasNotAsked() {
        slowDown();
        addWaiter();
        refuseAll();
        List<Acquire> unasked = addWaiters(2);

        queue.tryOnceMore(unasked.get(0));
        boolean unused = queue.recordPoll(Map.of("backup", Values.polled(7, 9, -2, 0)), queueClock.now());
        queue.tryOnceMore(unasked.get(1));

        assertThat(unasked.get(0).attempt().shortages()).isEmpty();
        assertThat(unasked.get(1).attempt().shortages())
                .containsExactly(
                        new PermitShortage("backup", 7, 9, 1, Optional.empty(), 0, 1, OptionalInt.empty(), false));
    }

    @Test
    void wakesNobodyWhereNobodyWaits() {
        assertThat(queue.released(BACKUP)).as("woken").isEqualTo(false);
        assertThat(queue.isAwaited("backup")).as("awaited").isEqualTo(false);
    }

    @Test
    void decidesInTheOrderOfTheFirstRefusals() {
        List<Acquire> waiters = waiters(3);
        waiters.get(1).moveTo(waiters.get(1).position().with(new Arrival(0, -1, true)));
        waiters.get(1).moveTo(waiters.get(1).position().joined());
        waiters.get(2).moveTo(waiters.get(2).position().with(new Arrival(0, -2, true)));
        waiters.get(2).moveTo(waiters.get(2).position().joined());
        waiters.forEach(queue::add);

        assertThat(take().members()).containsExactly(waiters.get(2), waiters.get(1), waiters.get(0));
    }

    @Test
    void takesThoseWithSmallerPlacesFirstWhereABatchTakesOnlyOne() {
        WorkQueue single = queue(2, 1, QueueClock.SYSTEM);
        List<Acquire> waiters = waiters(2);
        waiters.get(0).moveTo(waiters.get(0).position().with(new Arrival(0, -1, true)));
        waiters.get(1).moveTo(waiters.get(1).position().with(new Arrival(0, -2, true)));
        waiters.forEach(waiter -> waiter.moveTo(waiter.position().joined()));
        waiters.forEach(single::add);

        assertThat(single.take(true, false).members()).containsExactly(waiters.get(1));
    }

    /** The first answer of the database tells when both have come. */
    @Test
    void keepsTheOrderOfCallersThatCameBeforeTheFirstAnswer() {
        List<Acquire> callers = addWaiters(1);
        Batch first = take();
        callers = List.of(callers.get(0), addWaiter());

        refuse(first);

        assertThat(callers).isSortedAccordingTo(Acquire.IN_ORDER);
    }

    /** The batch has not renewed the lease: when it began, no acquire that is kept alive was ready. */
    @Test
    void isNotOvertakenWhereABatchLeavesItOut() {
        AcquireCommand keptAlive = new AcquireCommand("id", false, true, BACKUP, false, null, "test", null, () -> 7);
        Acquire first = acquire(keptAlive, true, Deadline.in(Duration.ofMinutes(1)), QueueClock.SYSTEM);
        Acquire later = withoutWaitTime(BACKUP);
        Acquire elsewhere = withoutWaitTime(Map.of("copy", 1));
        List.of(first, later, elsewhere).forEach(queue::add);

        assertThat(queue.take(false, false).members()).containsExactly(elsewhere);
        assertThat(take().members()).containsExactly(first, later);
    }

    /** The batch that decides a caller tells other instances of it, unless it is granted. */
    @Test
    void isNotForgottenByOthersBeforeItIsDecided() {
        Acquire woken = addWaiter();
        addWaiter();
        refuseAll();
        assertThat(queue.beginPoll().inFlight()).isEmpty();

        queue.released(BACKUP);

        assertThat(woken.stage()).isEqualTo(Stage.READY);
        assertThat(queue.beginPoll().inFlight()).containsExactly("backup");
        queue.recordDeparted(Set.of("backup"));
        assertThat(queue.beginPoll().departed()).isEmpty();
        assertThat(queue.needsPolls()).isEqualTo(true);
    }

    /** Where callers come all the time, no poll would otherwise tell that one has left. */
    @Test
    void isForgottenByOthersThoughNewCallersAreReady() {
        Acquire gone = addWaiter();
        addWaiter();
        refuseAll();
        queue.add(withoutWaitTime(BACKUP));

        assertThat(queue.cancel(gone)).isEqualTo(true);

        assertThat(queue.beginPoll().inFlight()).isEmpty();
    }

    @Test
    void isPlacedByTheClockOfTheLastPoll() {
        long[] now = {1};
        WorkQueue polling = queue(2, 500, new QueueClock(() -> now[0], bound -> 0));
        polling.add(acquire(command(BACKUP), true, Deadline.after(now[0], Duration.ofMinutes(1)), clockAt(now)));
        end(polling, polling.take(true, false), available(0, 7), new GrantOutcome.Refused(List.of(FULL)));
        now[0] += Duration.ofSeconds(11).toNanos();
        LocalDateTime later = Values.NOW.plusSeconds(30); // the clock was set forward

        boolean unused = polling.recordPoll(Map.of("backup", Values.polled(1, 1, 0, 7, later)), now[0]);

        Acquire joined = acquire(command(BACKUP), true, Deadline.after(now[0], Duration.ofMinutes(1)), clockAt(now));
        assertThat(polling.add(joined)).as("tried").isEqualTo(false);
        assertThat(joined.place()).isEqualTo(Places.at(Place.micros(later)));
    }

    private static QueueClock clockAt(long[] now) {
        return new QueueClock(() -> now[0], bound -> 0);
    }

    private static Duration timeOf(int times, IntConsumer task) {
        long start = System.nanoTime();
        IntStream.range(0, times).forEach(task);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void wakesAWaiterForPermitsThatABatchOfOthersFoundAvailable() {
        Acquire waiter = addWaiter();
        refuseAll();
        Acquire withoutWaitTime = withoutWaitTime(BACKUP);
        queue.add(withoutWaitTime);
        Batch refused = take();

        assertThat(poll(1, System.nanoTime())).as("while a batch is in flight").isEqualTo(false);
        end(refused, available(1, 7), new GrantOutcome.Refused(List.of(FULL)));

        assertThat(refused.members()).containsExactly(withoutWaitTime);
        assertThat(take().members()).containsExactly(waiter);
    }

    @Test
    void wakesOneWaiterPerReleasedPermit() {
        List<Acquire> waiters = addWaiters(3);
        refuseAll();
        queue.released(Map.of("backup", 1));
        Batch first = take();
        queue.released(Map.of("backup", 1)); // the second is woken for this one
        end(first, available(0, 8), new GrantOutcome.Withdrawn());

        assertThat(first.members()).containsExactly(waiters.get(0));
        assertThat(take().members()).containsExactly(waiters.get(1));
    }

    @Test
    void wakesWaitersForWhichTheDatabaseWasNotAsked() {
        slowDown();
        Acquire first = addWaiter();
        refuseAll();
        long asOf = queueClock.now();
        addWaiter();

        assertThat(poll(1, asOf)).isEqualTo(true);
        assertThat(take().members()).containsExactly(first);
    }

    @Test
    void wakesTheFirstWaiterForOnePermitOfAnotherInstance() {
        List<Acquire> waiters = addWaiters(2);
        refuseAll();

        assertThat(queue.releasedElsewhere(Set.of("backup", "copy")))
                .isEqualTo(new WorkQueue.RemoteRelease(true, false));

        assertThat(take().members()).containsExactly(waiters.get(0));
    }

    @Test
    void wakesNobodyForAReleaseOfAnotherInstanceWhileABatchIsInFlight() {
        addWaiters(1);
        refuseAll();
        queue.add(withoutWaitTime(BACKUP));
        Batch inFlight = take();

        assertThat(queue.releasedElsewhere(Set.of("backup"))).isEqualTo(new WorkQueue.RemoteRelease(false, true));

        refuse(inFlight);
        assertThat(take().members()).isEmpty();
    }

    @Test
    void wakesNobodyForOnePermitOfAnotherInstanceWhereMoreAreLacked() {
        addWaiterOfTwo("backup");

        assertThat(queue.releasedElsewhere(Set.of("backup"))).isEqualTo(new WorkQueue.RemoteRelease(false, true));
        assertThat(take().members()).isEmpty();
    }

    /** One notification may tell of several releases. */
    @Test
    void pollsForWhatNobodyIsWokenForBesideAWaiterThatIs() {
        addWaiterOfTwo("copy");
        Acquire one = addWaiter();
        refuseAll();

        assertThat(queue.releasedElsewhere(Set.of("backup", "copy")))
                .isEqualTo(new WorkQueue.RemoteRelease(true, true));

        assertThat(take().members()).containsExactly(one);
    }

    private void addWaiterOfTwo(String name) {
        queue.add(waiter(Map.of(name, 2)));
        PermitShortage full = new PermitShortage(name, 4, 4, 2, Optional.empty());
        end(take(), Map.of(name, Values.polled(4, 4, 0, 7)), new GrantOutcome.Refused(List.of(full)));
    }

    @Test
    void wakesTheFirstWaiterForWhatWasReleasedWhileItWasRefused() {
        Acquire waiter = addWaiter();
        Batch refused = take();
        queue.released(Map.of("backup", 1));
        refuse(refused);

        assertThat(take().members()).containsExactly(waiter);
    }

    /** The batch has found its row locked. What it has read is the availability from then on. */
    @Test
    void wakesAWaiterForAPiggyBackedReleaseThatIsDoneLater() {
        Acquire waiter = addWaiter();
        refuseAll();
        Release release = release(1);
        assertThat(queue.add(release)).as("piggy-backed").isTrue();
        Batch batch = queue.take(true);
        assertThat(batch.releases()).containsExactly(release);
        refuse(batch);
        assertThat(take().members()).as("none is available").isEmpty();
        Awaitility.await("the next attempt").until(() -> queue.nanosToReleases() == 0);

        Settlement.Result done = queue.finish(queue.takeReleases(), released(1), 0);

        assertThat(done.woken()).isTrue();
        assertThat(take().members()).containsExactly(waiter);
    }

    /** A batch without acquires executes it. Otherwise a caller that waits for more would be tried in vain. */
    @Test
    void countsAPiggyBackedReleaseOnce() {
        addWaiterOfTwo("backup");
        assertThat(queue.add(release(1))).as("piggy-backed").isTrue();
        Batch batch = queue.take(true);
        assertThat(batch.members()).isEmpty();

        assertThat(queue.finish(batch, released(1), 0).woken()).isFalse();

        assertThat(take().members()).as("one of two is available").isEmpty();
    }

    /** The row of one of them is locked. The next batch leaves out those with locked rows. */
    @Test
    void releasesTogetherAfterABatchOfThemHasWaitedForARow() {
        List.of(release(1), release(2)).forEach(queue::add);
        Batch both = queue.takeReleases();
        assertThat(both.releases()).hasSize(2);
        assertThat(both.awaitsRow()).as("waits").isFalse();

        Settlement.Result failed = queue.finishFailed(
                both,
                new CannotAcquireLockException("row", new SQLException("Lock wait timeout exceeded", "40001", 1205)),
                true);

        assertThat(failed.releases()).isEmpty();
        Awaitility.await("the next attempt").until(() -> queue.nanosToReleases() == 0);
        assertThat(queue.takeReleases().releases()).hasSize(2).allMatch(Release::isBlocked);
    }

    @Test
    void oneReleaseWaitsForARowUnlessAsManyWaitAsMay() {
        WorkQueue single = queue(2, 500, QueueClock.SYSTEM);
        List<Batch> batches = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            single.add(release(i));
            batches.add(single.takeReleases());
        }
        assertThat(batches).extracting(Batch::awaitsRow).containsExactly(true, false);

        Settlement.Result unused = single.finish(batches.get(0), released(1), 0);

        single.add(release(3));
        assertThat(single.takeReleases().awaitsRow()).isTrue();
    }

    private static Release release(long requestId) {
        Instant now = Instant.now();
        StoredPermit permit = new StoredPermit(requestId, 1, "backup", 1, 7);
        return new Release(
                new StoredGrant(requestId, "id", "test", null, List.of(permit), null, now, null, now),
                () -> false,
                QueueClock.SYSTEM);
    }

    private static BatchResult released(long requestId) {
        return new BatchResult(List.of(), Map.of(), List.of(), Map.of(requestId, ReleaseOutcome.RELEASED), 0);
    }

    @Test
    void wakesWhoFitsBesideACallerOfSeveralSemaphoresOfWhichOneIsFull() {
        Acquire both = waiter(Map.of("backup", 2, "copy", 1));
        queue.add(both);
        Acquire next = addWaiter();
        PermitShortage backup = new PermitShortage("backup", 3, 3, 2, Optional.empty());
        PermitShortage one = new PermitShortage("backup", 3, 3, 1, Optional.empty());
        PermitShortage copy = new PermitShortage("copy", 1, 1, 1, Optional.empty());
        List<GrantOutcome> refused =
                List.of(new GrantOutcome.Refused(List.of(backup, copy)), new GrantOutcome.Refused(List.of(one)));
        Map<String, RemainingAvailability> left =
                Map.of("backup", Values.remaining(3, 3, 0, 7, 7), "copy", Values.remaining(1, 1, 0, 7, 7));
        Settlement.Result unused =
                queue.finish(take(), new BatchResult(refused, left, List.of(), Map.of(), queueClock.now()), 0);

        queue.released(Map.of("backup", 2));
        assertThat(take().members()).as("copy is full").isEmpty();

        queue.released(Map.of("backup", 1));
        assertThat(take().members()).containsExactly(next);

        assertThat(queue.released(Map.of("copy", 1))).isEqualTo(true);
        assertThat(both.stage()).isEqualTo(Acquire.Stage.READY);
    }

    /** The first caller is tried for permits that may be reclaimed: the others keep their place behind another instance. */
    @Test
    void handsNothingOverWhileACallerOfAnotherInstanceIsNext() {
        ReuseTerms terms = new ReuseTerms("backup", 1, false, true, Duration.ofMinutes(1), Duration.ofMinutes(5));
        List<Acquire> waiters = waiters(2);
        waiters.forEach(waiter -> {
            waiter.reuse(terms, 1);
            queue.add(waiter);
        });
        end(
                take(),
                Map.of("backup", new RemainingAvailability(1, 1, 0, 7, 7, Values.NOW, earlierCallerElsewhere(), true)),
                new GrantOutcome.Refused(List.of(FULL)));

        assertThat(queue.tryFirst(Set.of("backup"))).isEqualTo(true);

        assertThat(take().members()).containsExactly(waiters.get(0));
        assertThat(queue.handOver(terms).outcome()).isEqualTo(HandoverOutcome.NOT_POSSIBLE);
    }

    private static WaitersElsewhere earlierCallerElsewhere() {
        Waiter earlier = new Waiter(Places.at(Place.micros(Values.NOW.minusMinutes(1))), Ask.of(1), false);
        RecordedHead queue = new RecordedHead(1, 2, List.of(earlier), 1, Values.NOW.plusSeconds(1));
        return WaitersElsewhere.of(List.of(queue), Values.FAIR.instance(), Values.NOW);
    }

    /** A caller that is being tried has not been granted its permits yet. */
    @Test
    void countsCallersThatAreBeingTriedAsAhead() {
        List<Acquire> callers = addWaiters(3);
        refuseAll();
        assertThat(callers).extracting(this::ahead).containsExactly(0L, 1L, 2L);

        assertThat(poll(1, queueClock.now())).isEqualTo(true);
        assertThat(callers.get(0).stage()).isEqualTo(Acquire.Stage.READY);
        assertThat(callers).as("ready").extracting(this::ahead).containsExactly(0L, 1L, 2L);

        Batch batch = take();
        assertThat(callers).as("in a batch").extracting(this::ahead).containsExactly(0L, 1L, 2L);

        end(batch, available(0, 8), new GrantOutcome.Refused(List.of(FULL)));
        assertThat(callers).as("refused again").extracting(this::ahead).containsExactly(0L, 1L, 2L);
    }

    @Test
    void tellsNoPositionWhereTheWaitIsOver() {
        List<Acquire> callers = addWaiters(2);
        assertThat(queue.positions(callers.get(1))).as("not tried yet").isEmpty();
        refuseAll();

        queue.tryOnceMore(callers.get(1));

        assertThat(queue.positions(callers.get(1))).isEmpty();
    }

    /** Callers that reuse a permit raise no fence, so that nobody knows how many are served. */
    @Test
    void expectsAWaitByTheGrantsSoFarUnlessPermitsAreReused() {
        BatchLimits limits = new BatchLimits(2, 500, 3, Duration.ofSeconds(5), Duration.ofSeconds(5));
        WorkQueue reusing = new WorkQueue(limits, false, Values.FAIR.withReuse(name -> true), queueClock);

        assertThat(positionAfterThreeGrants(queue).expectedWait())
                .hasValueSatisfying(expected -> assertThat(expected).isPositive());
        assertThat(positionAfterThreeGrants(reusing).expectedWait()).isEmpty();
    }

    private QueuePosition positionAfterThreeGrants(WorkQueue asked) {
        Acquire waiter = waiter(BACKUP);
        asked.add(waiter);
        end(asked, asked.take(true, false), available(0, 7), new GrantOutcome.Refused(List.of(FULL)));
        assertThat(asked.positions(waiter).get(0).expectedWait()).isEmpty();
        boolean unused = asked.recordPoll(Map.of("backup", Values.polled(1, 1, 0, 10)), queueClock.now());
        return asked.positions(waiter).get(0);
    }

    private long ahead(Acquire acquire) {
        return queue.positions(acquire).get(0).ahead();
    }

    /** By its arrival it is chosen first, by its share it is refused: it must not be chosen again and again. */
    @Test
    void aCallerBehindAnotherByItsShareIsNotWokenForThePermitsOfThatOne() {
        WorkQueue single = new WorkQueue(
                new BatchLimits(2, 1, 3, Duration.ofSeconds(5), Duration.ofSeconds(5)), false, Values.FAIR, queueClock);
        Acquire earlier = sharing("a");
        Acquire next = sharing("b");
        for (Acquire each : List.of(earlier, next)) {
            single.add(each);
            end(single, single.take(true, false), served("a", 0), new GrantOutcome.Refused(List.of(FULL)));
        }
        assertThat(single.recordPoll(served("a", 2), queueClock.now()))
                .as("woken")
                .isEqualTo(true);
        assertThat(List.of(earlier, next)).extracting(Acquire::stage).containsOnly(Stage.READY);
        Batch first = single.take(true, false);
        assertThat(first.members()).containsExactly(earlier);

        end(single, first, served("a", 1), new GrantOutcome.Refused(List.of(FULL)));

        assertThat(earlier.stage()).isEqualTo(Stage.LINE);
        assertThat(single.recordPoll(served("a", 1), queueClock.now()))
                .as("woken by a poll")
                .isEqualTo(false);
        assertThat(single.take(true, false).members()).containsExactly(next);
    }

    @Test
    void aCallerThatIsTriedOnceMoreKeepsItsTurn() {
        WorkQueue shared = new WorkQueue(
                new BatchLimits(2, 4, 3, Duration.ofSeconds(5), Duration.ofSeconds(5)), false, Values.FAIR, queueClock);
        Acquire other = sharing("a");
        Acquire last = sharing("b");
        Acquire behind = sharing("b");
        for (Acquire each : List.of(other, last, behind)) {
            boolean unused = shared.add(each);
        }
        Batch all = shared.take(true, false);
        GrantOutcome refused = new GrantOutcome.Refused(List.of(FULL));
        shared.finish(
                all,
                new BatchResult(
                        List.of(refused, refused, refused), served("a", 0), List.of(), Map.of(), queueClock.now()),
                0);

        shared.tryOnceMore(last);
        boolean unused = shared.recordPoll(served("a", 2), queueClock.now());

        assertThat(List.of(other, last, behind))
                .extracting(Acquire::stage)
                .containsExactly(Stage.READY, Stage.READY, Stage.LINE);
    }

    /** It may move the turns of those that wait for more, so that the permit is theirs. */
    @Test
    void aCallerWithAShareDoesNotJoinUnaskedWhileAPermitIsAvailable() {
        WorkQueue shared = new WorkQueue(
                new BatchLimits(2, 4, 3, Duration.ofSeconds(5), Duration.ofSeconds(5)), false, Values.FAIR, queueClock);
        boolean unused = shared.add(sharing("a", 2));
        GrantOutcome refused = new GrantOutcome.Refused(List.of(FULL));
        end(shared, shared.take(true, false), served("a", 1), refused);

        assertThat(shared.add(sharing("b", 2))).as("tried").isEqualTo(true);
        end(shared, shared.take(true, false), served("a", 0), refused);
        assertThat(shared.add(sharing("b", 2)))
                .as("tried although none is available")
                .isEqualTo(false);
    }

    /** Later callers may go before such a caller, while nothing is withheld for it. */
    @Test
    void aPollWakesACallerBehindOneThatAStalledBatchOfAnotherSemaphoreHoldsUp() {
        long[] nanos = {0};
        QueueClock clock = new QueueClock(() -> nanos[0], bound -> 0);
        WorkQueue shared = new WorkQueue(
                new BatchLimits(3, 8, 3, Duration.ofSeconds(5), Duration.ofSeconds(5)), false, Values.FAIR, clock);
        Acquire ofLocked = sharing(Map.of("locked", 1), "a", clock);
        Acquire ofBoth = sharing(Map.of("locked", 1, "other", 1), "a", clock);
        Acquire ofOther = sharing(Map.of("other", 1), "b", clock);
        for (Acquire each : List.of(ofLocked, ofBoth, ofOther)) {
            boolean unused = shared.add(each);
        }
        GrantOutcome refused = new GrantOutcome.Refused(List.of(FULL));
        end(
                shared,
                shared.take(true, false),
                Map.of("locked", Values.polled(2, 2, 0, 7), "other", Values.polled(1, 1, 0, 7)),
                refused);
        nanos[0] += 1_000;
        boolean woken = shared.recordPoll(
                Map.of("locked", Values.polled(2, 0, 2, 7), "other", Values.polled(1, 0, 1, 7)), clock.now());
        assertThat(woken).isEqualTo(true);
        assertThat(ofOther.stage()).as("behind the one of both").isEqualTo(Stage.LINE);
        end(shared, shared.take(true, false), Map.of(), new GrantOutcome.Postponed("locked"));
        assertThat(shared.take(true, false).members()).as("waits for the row").containsExactly(ofLocked);

        nanos[0] += Duration.ofMillis(251).toNanos();
        woken = shared.recordPoll(Map.of("other", Values.polled(1, 0, 1, 7)), clock.now());

        assertThat(woken).as("woken").isEqualTo(true);
        assertThat(ofOther.stage()).isEqualTo(Stage.READY);
    }

    private static Acquire sharing(Map<String, Integer> permits, String share, QueueClock clock) {
        return acquire(command(permits), true, clock.in(Duration.ofMinutes(1)), Duration.ZERO, share, clock);
    }

    private Acquire sharing(String share) {
        return sharing(share, 1);
    }

    private Acquire sharing(String share, int permits) {
        return acquire(
                command(Map.of("backup", permits)),
                true,
                queueClock.in(Duration.ofMinutes(1)),
                Duration.ZERO,
                share,
                queueClock);
    }

    private static Map<String, RemainingAvailability> served(String share, long free) {
        ShareTags tags = new ShareTags();
        tags.grant(Share.of(share), 1, 1, 1, 2, false);
        tags.know(Share.of("b"));
        return Map.of(
                "backup",
                new RemainingAvailability(2, 2 - free, free, 7, 7, Values.NOW, WaitersElsewhere.NONE, true, tags));
    }
}
