package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineLimit;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A queue in which one caller may wait, and a newer one displaces it. */
class DisplacedWaitersTests extends WorkQueueFixture {

    private static final Map<String, RemainingAvailability> NONE_LEFT =
            Map.of("backup", Values.remaining(1, 1, 0, 7, 7), "network", Values.remaining(1, 1, 0, 7, 7));

    private static final GrantOutcome REFUSED = new GrantOutcome.Refused(List.of(FULL));

    private final AtomicLong nanos = new AtomicLong(System.nanoTime());

    /** Ten microseconds pass with each look, so that no two callers come at the same time, and no answer becomes old. */
    private final QueueClock steps = new QueueClock(() -> nanos.addAndGet(10_000), QueueClock.SYSTEM.random());

    private final WorkQueue newest = new WorkQueue(
            new BatchLimits(2, 500, 3, Duration.ofSeconds(5), Duration.ofSeconds(5)),
            false,
            Values.FAIR.withMaxWaiting(name -> 1, name -> true),
            steps);

    @Test
    void aCallerThatJoinsDisplacesTheFirst() {
        Acquire first = refused(1).get(0);
        assertThat(newest.takeDisplaced()).isNull();
        Acquire second = caller(Duration.ZERO);

        assertThat(newest.add(second)).as("is tried").isEqualTo(false);

        assertThat(displaced()).containsExactly(first);
        assertThat(first.stage()).isEqualTo(Stage.DONE);
        assertThat(((GrantOutcome.Refused) first.lastRefusal().outcome()).shortages())
                .singleElement()
                .returns(true, PermitShortage::displaced)
                .returns(1L, PermitShortage::ahead);
        assertThat(second.stage()).isEqualTo(Stage.LINE);
    }

    @Test
    void ofThoseThatATransactionRefusesTheNewestWaits() {
        List<Acquire> callers = refused(3);

        assertThat(displaced()).isEqualTo(callers.subList(0, 2));
        assertThat(callers).extracting(Acquire::stage).containsExactly(Stage.DONE, Stage.DONE, Stage.LINE);
    }

    @Test
    void aCallerOfAnotherInstanceBehindItDisplacesIt() {
        Acquire first = refused(1).get(0);
        Waiter later = new Waiter(Places.at(Place.micros(Values.NOW.plusHours(1))), Ask.of(1), false);
        RecordedHead other = new RecordedHead(1, 2, List.of(later), 1, Values.NOW.plusSeconds(1));
        RemainingAvailability polled = new RemainingAvailability(
                1, 1, 0, 7, 7, Values.NOW, WaitersElsewhere.of(List.of(other), 1, Values.NOW), true);

        assertThat(newest.recordPoll(Map.of("backup", polled), steps.now()))
                .as("there is something to do")
                .isEqualTo(true);

        assertThat(displaced()).containsExactly(first);
    }

    /** The permit is for the caller that waits: it is tried, and not refused because a newer one has begun to wait. */
    @Test
    void aCallerForWhomAPermitIsAvailableIsTried() {
        Acquire first = refused(1).get(0);
        Waiter later = new Waiter(Places.at(Place.micros(Values.NOW.plusHours(1))), Ask.of(1), false);
        RecordedHead other = new RecordedHead(1, 2, List.of(later), 1, Values.NOW.plusSeconds(1));
        RemainingAvailability polled = new RemainingAvailability(
                1, 0, 1, 7, 7, Values.NOW, WaitersElsewhere.of(List.of(other), 1, Values.NOW), true);

        assertThat(newest.recordPoll(Map.of("backup", polled), steps.now()))
                .as("is woken")
                .isEqualTo(true);

        assertThat(newest.takeDisplaced()).isNull();
        assertThat(newest.take(true, false).members()).containsExactly(first);
    }

    /** The transaction withheld a permit that another instance had released, and refused the new caller. */
    @Test
    void aCallerForWhomABatchFindsAPermitIsTried() {
        Acquire first = refused(1).get(0);
        nanos.addAndGet(Duration.ofSeconds(1).toNanos()); // the answer is too old for a caller to join unasked
        Acquire second = caller(Duration.ZERO);
        assertThat(newest.add(second)).as("is tried").isEqualTo(true);

        refuseAllOfNewest(Map.of("backup", Values.remaining(1, 0, 1, 7, 7)));

        assertThat(displaced()).isEmpty();
        assertThat(first.stage()).isEqualTo(Stage.READY);
        assertThat(second.stage()).isEqualTo(Stage.LINE);
    }

    /** A head start lets a caller go first, and does not have it refused first. */
    @Test
    void aCallerThatCameFirstIsDisplacedAlthoughItStandsLast() {
        Acquire first = refused(1).get(0);
        Acquire ahead = caller(Duration.ofMinutes(2));

        newest.add(ahead);
        refuseAllOfNewest();

        assertThat(displaced()).containsExactly(first);
        assertThat(ahead.stage()).isEqualTo(Stage.LINE);
    }

    @Test
    void aCallerOfSeveralSemaphoresLeavesAllItsLines() {
        Acquire both = acquire(
                command(Map.of("backup", 1, "network", 1)),
                true,
                steps.in(Duration.ofMinutes(1)),
                Duration.ZERO,
                steps);
        newest.add(both);
        refuseAllOfNewest();
        newest.add(caller(Duration.ZERO));
        refuseAllOfNewest();

        assertThat(displaced()).containsExactly(both);
        assertThat(newest.isAwaited("network")).isEqualTo(false);
        assertThat(newest.isAwaited("backup")).isEqualTo(true);
    }

    @Test
    void theNewCallerIsRefusedWhereNoneMayWait() {
        assertThat(new LineLimit(0, 0, true).isReached(0, 0)).isEqualTo(true);
        assertThat(new LineLimit(0, 0, true).isDisplacedBy(1)).isEqualTo(false);
    }

    private List<Acquire> displaced() {
        List<Acquire> all = new ArrayList<>();
        for (Acquire next = newest.takeDisplaced(); next != null; next = newest.takeDisplaced()) {
            all.add(next);
        }
        return all;
    }

    private Acquire caller(Duration headStart) {
        return acquire(command(BACKUP), true, steps.in(Duration.ofMinutes(1)), headStart, steps);
    }

    private List<Acquire> refused(int count) {
        List<Acquire> callers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            callers.add(caller(Duration.ZERO));
            newest.add(callers.get(i));
        }
        refuseAllOfNewest();
        return callers;
    }

    private void refuseAllOfNewest() {
        refuseAllOfNewest(NONE_LEFT);
    }

    private void refuseAllOfNewest(Map<String, RemainingAvailability> left) {
        Batch batch = newest.take(true, false);
        List<GrantOutcome> outcomes = Collections.nCopies(batch.members().size(), REFUSED);
        BatchResult result = new BatchResult(outcomes, left, List.of(), Map.of(), batch.startedAt());
        Settlement.Result unused = newest.finish(batch, result, steps.now());
    }
}
