package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the lines report about their callers, and which callers they wake. All semaphores have a capacity of 4. */
class WaitingLinesTests {

    private static final Map<String, Integer> ONE = Map.of("backup", 1);
    private static final Map<String, Integer> BOTH = Map.of("backup", 1, "copy", 1);
    private static final LocalDateTime OPEN = Values.NOW;
    private static final LocalDateTime CLOSED = OPEN.plus(Duration.ofSeconds(1));

    private final Map<String, Long> taken = new HashMap<>();
    private long now = 1;
    private long tickets;
    private final QueueClock clock = new QueueClock(() -> now, bound -> 0);
    private final WaitingLines queues = new WaitingLines(clock, Values.FAIR);

    @Test
    void knowsWhatCallersWaitFor() {
        Acquire caller = refused(Map.of("backup", 2), OPEN);
        assertThat(queues.needPolls()).as("polls").isEqualTo(true);
        assertThat(queues.isAwaited("backup")).as("backup").isEqualTo(true);
        assertThat(queues.isAwaited("copy")).as("copy").isEqualTo(false);
        Waiter waiter = new Waiter(Places.at(Place.micros(OPEN)), Ask.of(2), false);
        assertThat(queues.local("backup")).as("for other instances").isEqualTo(new LineHead(List.of(waiter), 1));
        assertThat(queues.local("copy")).isEqualTo(LineHead.EMPTY);

        queues.remove(caller);
        assertThat(queues.needPolls()).as("polls").isEqualTo(false);
    }

    @Test
    void placesACallerBehindOthersUnaskedForATenthOfASecondAfterAnAnswer() {
        Acquire unused = refused(ONE, OPEN);
        now += Duration.ofMillis(100).toNanos() - 1;
        Acquire joining = caller(ONE);
        assertThat(join(joining)).as("a moment before").isEqualTo(true);
        assertThat(joining.place()).isEqualTo(Places.at(Place.micros(OPEN) + 100_000));
        assertThat(queues.demandAhead(joining)).isEqualTo(Map.of("backup", new Demand(1, 0, 1)));

        now++;
        assertThat(join(caller(ONE))).as("then").isEqualTo(false);
    }

    /** Otherwise other instances would not learn at once that it stands ahead of callers which they know. */
    @Test
    void letsACallerWithAHeadStartJoinOnlyBehindAllOthers() {
        Acquire unused = refused(ONE, OPEN);
        now += Duration.ofMillis(10).toNanos();

        assertThat(join(caller(WorkQueueFixture.command(ONE), Duration.ofMillis(9))))
                .as("behind the other")
                .isEqualTo(true);
        assertThat(join(caller(WorkQueueFixture.command(ONE), Duration.ofMillis(11))))
                .as("ahead of it")
                .isEqualTo(false);

        batch("backup", Values.left(0, OPEN.plus(Duration.ofMillis(10)), 1));
        assertThat(join(caller(WorkQueueFixture.command(ONE), Duration.ofMillis(5))))
                .as("ahead of one in another instance")
                .isEqualTo(false);
        assertThat(join(caller(ONE))).as("without a head start").isEqualTo(true);
    }

    /** It is decided at its place: only what callers ahead of it wait for is withheld from it. */
    @Test
    void leavesToACallerWithAHeadStartWhatIsWithheldForLaterOnes() {
        Acquire unused = refuse(caller(Map.of("backup", 3)), OPEN, 2, "backup");
        now += Duration.ofMillis(10).toNanos();

        assertThat(queues.demandAhead(caller(ONE))).isEqualTo(Map.of("backup", new Demand(3, 0, 1)));
        assertThat(queues.demandAhead(caller(WorkQueueFixture.command(ONE), Duration.ofSeconds(1))))
                .isEqualTo(Map.of("backup", Demand.NONE));
    }

    @Test
    void letsACallerJoinForWhomCallersOfAnotherInstanceLeaveNothing() {
        Acquire unused = refuse(caller(BOTH), CLOSED, 1, "copy");
        assertThat(join(caller(ONE))).as("the permit is free").isEqualTo(false);
        batch("backup", Values.left(1, CLOSED, 1));
        assertThat(join(caller(ONE))).as("another waits for it").isEqualTo(true);
    }

    @Test
    void withholdsPermitsForACallerOfSeveralSemaphoresOnlyWhileTheWindowIsOpen() {
        Acquire several = refuse(caller(Map.of("backup", 2, "copy", 1)), OPEN, 2, "copy");
        Acquire next = refused(ONE, OPEN);
        batch("backup", Values.left(2, OPEN, 0));
        assertThat(queues.firstWithClaim("backup")).isEqualTo(several);
        assertThat(wake("backup")).as("open").isEmpty();
        batch("backup", Values.left(1, CLOSED, 0));
        assertThat(queues.firstWithClaim("backup")).isEqualTo(next);
        assertThat(wake("backup")).as("closed").containsExactly(next);
        assertThat(queues.firstWithClaim("backup")).as("without a claim").isNull();
    }

    @Test
    void leavesPermitsToCallersOfOtherInstancesThatCameBefore() {
        Acquire caller = refused(ONE, OPEN);
        assertThat(queues.isNextElsewhere("backup")).as("one is ahead").isEqualTo(false);
        batch("backup", Values.left(1, OPEN, 1));
        assertThat(queues.isNextElsewhere("backup")).as("one is ahead").isEqualTo(true);
        assertThat(queues.isTurnNear("backup")).as("after the next").isEqualTo(true);
        assertThat(wake("backup")).isEmpty();

        batch("backup", Values.left(2, OPEN, 2));
        assertThat(queues.isTurnNear("backup")).as("after two").isEqualTo(false);
        assertThat(queues.isTurnNear("copy")).as("nobody waits").isEqualTo(false);
        assertThat(wake("backup")).isEmpty();

        batch("backup", Values.left(2, OPEN, 1));
        assertThat(wake("backup")).containsExactly(caller);
    }

    /** Others would be tried in vain, and lock the row for that. */
    @Test
    void knowsWhomOnePermitSuffices() {
        Acquire unused = refused(Map.of("backup", 2), OPEN);
        assertThat(queues.assumeEnoughIfOneIsMissing("backup"))
                .as("two are missing")
                .isEqualTo(false);
        batch("backup", Values.left(1, OPEN, 0));
        assertThat(queues.assumeEnoughIfOneIsMissing("backup"))
                .as("one is missing")
                .isEqualTo(true);
        batch("backup", Values.left(2, OPEN, 1));
        assertThat(queues.assumeEnoughIfOneIsMissing("backup"))
                .as("another is next")
                .isEqualTo(false);
        assertThat(queues.assumeEnoughIfOneIsMissing("copy")).as("nobody waits").isEqualTo(false);
    }

    @Test
    void noticesThatAnotherInstanceWasGrantedWhatCallersLack() {
        Acquire unused = refuse(caller(BOTH), OPEN, 1, "copy");
        batch("copy", new RemainingAvailability(4, 4, 0, 9, 10, OPEN, WaitersElsewhere.NONE, true));
        assertThat(queues.takeGrantedElsewhere()).as("by a batch").isEqualTo(true);
        assertThat(queues.takeGrantedElsewhere()).as("since then").isEqualTo(false);
        queues.recordPoll("copy", Values.polled(4, 4, 0, 11, OPEN), 0, ++now);
        assertThat(queues.takeGrantedElsewhere()).as("by a poll").isEqualTo(true);
        queues.recordPoll("backup", Values.polled(4, 3, 1, 9, OPEN), 0, ++now);
        assertThat(queues.takeGrantedElsewhere()).as("what they do not lack").isEqualTo(false);
    }

    @Test
    void isPolledOftenForOnePermitThatOthersAreGrantedOften() {
        Acquire unused = refused(ONE, OPEN);
        now += Duration.ofMillis(600).toNanos();
        queues.recordPoll("backup", Values.polled(4, 4, 0, 67, OPEN), 0, ++now);
        assertThat(queues.pollAfter(Duration.ofMillis(50))).isEqualTo(Duration.ofMillis(10));
    }

    @Test
    void tellsAGivenUpCallerOfEachSemaphoreThatIsShort() {
        Acquire both = refuse(caller(Map.of("backup", 2, "copy", 1)), OPEN, 2, "copy");
        assertThat(queues.shortages(both)).containsExactly(shortage("copy", 4, 1, 0, 0));
        Acquire behind = refused(ONE, OPEN);
        batch("backup", Values.left(1, OPEN, 0));
        assertThat(queues.shortages(behind))
                .as("one of two withheld is free")
                .containsExactly(shortage("backup", 3, 1, 1, 1));
        batch("backup", Values.left(2, OPEN, 0));
        assertThat(queues.shortages(behind)).as("both are withheld").containsExactly(shortage("backup", 2, 1, 2, 1));

        queues.recordRefusal(List.of(shortage("backup", 9, 3, 0, 0)));
        assertThat(queues.shortages(behind)).as("known since").containsExactly(shortage("backup", 9, 1, 0, 1));
    }

    @Test
    void refusesNobodyWithNumbersThatWereNotReadAfterItsSubmission() {
        Acquire unused = refused(ONE, OPEN);
        Acquire joining = caller(ONE);
        assertThat(join(joining)).as("joins").isEqualTo(true);
        queues.recordBatch("backup", Values.left(0, OPEN, 0), 0, joining.queuedAt());
        assertThat(queues.shortages(joining)).as("read at the same time").isEmpty();
        batch("backup", Values.left(0, OPEN, 0));
        assertThat(queues.shortages(joining)).as("read afterwards").containsExactly(shortage("backup", 4, 1, 0, 1));
    }

    @Test
    void reservesWhatAWokenCallerAsksForOfEachSemaphore() {
        Acquire caller = refuse(caller(Map.of("backup", 2, "copy", 1)), OPEN, 2, "copy");
        queues.adjustAvailable("copy", 1);
        assertThat(wake("copy")).containsExactly(caller);
        assertThat(taken).isEqualTo(Map.of("backup", 2L, "copy", 1L));
    }

    @Test
    void reservesTheWholeCapacityForAnExclusiveCaller() {
        AcquireCommand command = new AcquireCommand("id", false, true, BOTH, true, null, "test", null, null);
        Acquire caller = refuse(caller(command), OPEN, 4, "copy");
        queues.adjustAvailable("copy", 3);
        assertThat(wake("copy")).isEmpty();
        queues.adjustAvailable("copy", 1);
        assertThat(wake("copy")).containsExactly(caller);
        assertThat(taken).isEqualTo(Map.of("backup", 4L, "copy", 4L));
    }

    /** The database rejects it: it need not wait for that. */
    @Test
    void wakesACallerThatAsksForMoreThanALoweredCapacity() {
        Acquire caller = refused(Map.of("backup", 2), OPEN);
        batch("backup", new RemainingAvailability(2, 4, -2, 7, 7, OPEN, WaitersElsewhere.NONE, true));
        assertThat(wake("backup")).as("all of the capacity").isEmpty();
        batch("backup", new RemainingAvailability(0, 4, 0, 7, 7, OPEN, WaitersElsewhere.NONE, true));
        assertThat(wake("backup")).as("paused").isEmpty();
        batch("backup", new RemainingAvailability(1, 4, -3, 7, 7, OPEN, WaitersElsewhere.NONE, true));
        assertThat(wake("backup")).containsExactly(caller);
    }

    /** Such a caller may be refused although enough is available. */
    @Test
    void wakesACallerForWhatWasLeftToOthersBeforeIt() {
        Acquire caller = caller(ONE);
        caller.setDemandAhead(Map.of("backup", new Demand(1, 0, 1)));
        park(caller, Map.of("backup", Values.left(1, OPEN, 0)), "backup");
        assertThat(wake("backup")).as("others of this instance").containsExactly(caller);

        park(caller, Map.of("backup", Values.left(0, OPEN, 0)), "backup");
        Acquire unused = refused(ONE, OPEN);
        batch("backup", Values.left(0, OPEN, 1));
        queues.remove(caller);
        caller.setDemandAhead(Map.of());
        park(caller, Map.of("backup", Values.left(1, OPEN, 1)), "backup");
        assertThat(wake("backup")).as("withheld for another instance").isEmpty();
        queues.adjustAvailable("backup", 1);
        assertThat(wake("backup")).as("one for each").containsExactly(caller);
    }

    @Test
    void ignoresAPollThatBeganWhenAvailabilityChanged() {
        Acquire caller = refused(ONE, OPEN);
        queues.recordPoll("backup", Values.polled(4, 3, 1, 7), 0, now);
        assertThat(wake("backup")).isEmpty();
        assertThat(queues.shortages(caller)).containsExactly(shortage("backup", 4, 1, 0, 0));
        queues.recordPoll("backup", Values.polled(4, 3, 1, 7), 0, ++now);
        assertThat(wake("backup")).containsExactly(caller);
    }

    /** Until the next poll, nothing else tells that these can be served. */
    @Test
    void wakesCallersOfTheOtherSemaphoresOfAWokenCaller() {
        Acquire unused = refuse(caller(Map.of("copy", 1, "disk", 1)), OPEN, 2, "disk");
        Acquire both = refuse(caller(BOTH), OPEN, 2, "backup");
        Acquire next = refuse(caller(Map.of("copy", 1)), OPEN, 0, "copy");
        batch("copy", Values.left(2, OPEN, 0));
        assertThat(wake("copy")).as("withheld for the first two").isEmpty();

        now += Duration.ofSeconds(1).toNanos(); // the window is closed
        queues.adjustAvailable("backup", 1);
        assertThat(wake("backup")).containsExactly(both, next);
    }

    /** A release would hold the lock for long. */
    @Test
    void isNotSearchedAsAWholeForACallerThatCanBeServed() {
        IntStream.range(0, 20_000).forEach(i -> refuse(caller(BOTH), CLOSED, 1, "copy"));
        long start = System.nanoTime();
        IntStream.range(0, 500).forEach(i -> assertThat(wake("backup")).isEmpty());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(3));
    }

    private Acquire caller(Map<String, Integer> permits) {
        return caller(WorkQueueFixture.command(permits));
    }

    private Acquire caller(AcquireCommand command) {
        return caller(command, Duration.ZERO);
    }

    private Acquire caller(AcquireCommand command, Duration headStart) {
        Deadline deadline = Deadline.after(now, Duration.ofMinutes(1));
        Acquire caller = WorkQueueFixture.acquire(command, true, deadline, headStart, clock);
        caller.setTicket(++tickets);
        queues.arrived(caller);
        return caller;
    }

    private Acquire refused(Map<String, Integer> permits, LocalDateTime readAt) {
        return refuse(caller(permits), readAt, 0, "backup");
    }

    /** So many permits are free of the semaphores that are not full. */
    private Acquire refuse(Acquire caller, LocalDateTime readAt, int free, String full) {
        Map<String, RemainingAvailability> left = new HashMap<>();
        caller.names().forEach(name -> left.put(name, Values.left(name.equals(full) ? 0 : free, readAt, 0)));
        park(caller, left, full);
        return caller;
    }

    /** The database has refused a caller for want of one semaphore. */
    private void park(Acquire caller, Map<String, RemainingAvailability> left, String full) {
        AcquireCommand command = caller.command();
        int requested = command.exclusive() ? 4 : command.permits().get(full);
        caller.found(caller.attempt().refused(List.of(new PermitShortage(full, 4, 4, requested, Optional.empty()))));
        queues.recordClock(left.values(), now, now);
        queues.park(caller, left, now);
        left.forEach(this::batch);
    }

    private void batch(String name, RemainingAvailability left) {
        queues.recordBatch(name, left, 0, ++now);
    }

    private List<Acquire> wake(String name) {
        return queues.wake(List.of(name), taken);
    }

    private static PermitShortage shortage(String name, int held, int requested, int withheld, int ahead) {
        return new PermitShortage(
                name, 4, held, requested, Optional.empty(), withheld, ahead, OptionalInt.empty(), false);
    }

    private boolean join(Acquire caller) {
        return queues.join(caller, any -> true);
    }
}
