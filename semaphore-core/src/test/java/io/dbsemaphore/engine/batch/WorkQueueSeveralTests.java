package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Callers of several semaphores, of which one is full, or locked by another transaction. */
class WorkQueueSeveralTests extends WorkQueueFixture {

    private static final LocalDateTime OPEN = Values.NOW;
    private static final LocalDateTime CLOSED = OPEN.plus(Duration.ofMillis(1_000));
    private static final ReuseTerms TERMS =
            new ReuseTerms("backup", 1, false, true, Duration.ofMinutes(1), Duration.ofMinutes(5));

    private long now = 1;
    private final QueueClock clock = new QueueClock(() -> now, bound -> 0);
    private final WorkQueue several = queue(2, 500, clock);

    @Test
    void keepPermitsFromLaterCallersWhileTheWindowIsOpen() {
        park(Map.of("backup", 1, "copy", 1), Set.of("copy"), OPEN, 1, WaitersElsewhere.NONE);

        assertThat(several.add(caller(BACKUP))).as("tried").isEqualTo(false);
    }

    @Test
    void keepNothingFromLaterCallersWhileTheWindowIsClosed() {
        park(Map.of("backup", 1, "copy", 1), Set.of("copy"), CLOSED, 1, WaitersElsewhere.NONE);

        assertThat(several.add(caller(BACKUP))).as("tried").isEqualTo(true);
    }

    /** As if it were kept idle, the permit would be offered to them again and again. */
    @Test
    void areHandedNothingWhileTheWindowIsClosed() {
        park(Map.of("backup", 1, "copy", 1), Set.of("copy"), CLOSED, 1, WaitersElsewhere.NONE);

        assertThat(several.handOver(TERMS).outcome()).isEqualTo(HandoverOutcome.NOT_POSSIBLE);
    }

    @Test
    void doNotHideThatAnotherInstanceIsBeforeTheNextCaller() {
        park(Map.of("backup", 1, "copy", 1), Set.of("copy"), CLOSED, 0, WaitersElsewhere.NONE);
        now += Duration.ofSeconds(1).toNanos(); // so that the database is asked
        Waiter between = new Waiter(Places.at(Place.micros(CLOSED) + 5), Ask.of(1), false);
        LocalDateTime later = CLOSED.plus(Duration.ofMillis(100));
        RecordedHead other = new RecordedHead(1, 2, List.of(between), 1, later.plusSeconds(1));
        Acquire next = caller(BACKUP);
        next.reuse(TERMS, 1);
        park(next, Set.of("backup"), later, 0, WaitersElsewhere.of(List.of(other), Values.FAIR.instance(), later));

        assertThat(several.handOver(TERMS).outcome()).isEqualTo(HandoverOutcome.NOT_POSSIBLE);
    }

    /** However often others are granted permits of the semaphore that is not full. */
    @Test
    void areNotPolledForWhatTheyDoNotLack() {
        park(Map.of("backup", 1, "copy", 1), Set.of("copy"), OPEN, 3, WaitersElsewhere.NONE);
        for (long fence = 1_000; fence <= 3_000; fence += 1_000) {
            now += Duration.ofMillis(600).toNanos();
            assertThat(several.recordPoll(Map.of("backup", Values.polled(4, 1, 3, fence, OPEN)), now))
                    .isEqualTo(false);
        }

        assertThat(several.pollAfter(Duration.ofMillis(100))).isEqualTo(Duration.ofMillis(100));
    }

    /** A permit of "backup" may have expired: a semaphore that the first two also need has no permit. */
    @Test
    void letOneBehindThemReclaimWhatHasExpired() {
        park(Map.of("copy", 1), Set.of("copy"), OPEN, 0, WaitersElsewhere.NONE);
        park(Map.of("backup", 1, "copy", 1), Set.of("backup", "copy"), OPEN, 0, WaitersElsewhere.NONE);
        Acquire behind = caller(Map.of("backup", 2));
        park(behind, Set.of("backup"), OPEN, 0, WaitersElsewhere.NONE);

        boolean unused = several.tryFirst(Set.of("backup", "copy"));

        assertThat(behind.stage()).isEqualTo(Stage.READY);
    }

    /** The window is closed: the first of the queue lacks more than the caller that is next. */
    @Test
    void letOneCallerBehindThemBeTriedForOnePermitOfAnotherInstance() {
        park(Map.of("backup", 3, "copy", 1), Set.of("backup", "copy"), CLOSED, 0, WaitersElsewhere.NONE);
        List<Acquire> behind = List.of(caller(BACKUP), caller(BACKUP));
        behind.forEach(several::add);

        assertThat(several.releasedElsewhere(Set.of("backup")).woken())
                .as("woken")
                .isEqualTo(true);

        assertThat(several.take(true, false).members()).containsExactly(behind.get(0));
    }

    /** The window is closed: the first of the queue lacks less than the caller that is next. */
    @Test
    void letACallerBehindThemBeTriedForThePermitOfAnotherInstanceThatItLacks() {
        park(Map.of("backup", 1, "copy", 1), Set.of("copy"), CLOSED, 1, WaitersElsewhere.NONE);
        Acquire behind = caller(Map.of("backup", 2));
        several.add(behind);

        assertThat(several.releasedElsewhere(Set.of("backup")).woken())
                .as("woken")
                .isEqualTo(true);

        assertThat(several.take(true, false).members()).containsExactly(behind);
    }

    /** Each queue has many callers ahead that cannot be served. */
    @Test
    void areFoundBehindManyThatCannotBeServed() {
        for (String free : List.of("backup", "network")) {
            IntStream.range(0, 50)
                    .forEach(i -> park(Map.of(free, 1, "copy", 1), Set.of("copy"), CLOSED, 1, WaitersElsewhere.NONE));
        }
        Acquire both = caller(Map.of("backup", 1, "network", 1));
        park(both, Set.of("backup", "network"), CLOSED, 1, WaitersElsewhere.NONE);

        for (int i = 0; i < 10 && both.stage() == Acquire.Stage.LINE; i++) {
            several.released(Map.of("backup", 1, "network", 1));
        }

        assertThat(both.stage()).isEqualTo(Acquire.Stage.READY);
    }

    @Test
    void areNotTakenAlongWhereTheRowOfASecondSemaphoreWouldBeWaitedFor() {
        Acquire first = withoutWaitTime(BACKUP);
        Acquire blocked = withoutWaitTime(Map.of("copy", 1, "network", 1));
        blocked.found(blocked.attempt().postponed("copy"));
        Acquire behind = withoutWaitTime(Map.of("copy", 1));
        List.of(first, blocked, behind).forEach(queue::add);

        assertThat(take().members()).containsExactly(first);
        assertThat(take().members()).containsExactly(blocked, behind);
    }

    /** Those who need not wait for the row would be delayed. */
    @Test
    void waitForARowWithThoseOnlyWhoNeedItAndNoFurtherSemaphore() {
        Acquire first = withoutWaitTime(Map.of("backup", 1, "copy", 1));
        Acquire other = withoutWaitTime(BACKUP);
        Acquire same = withoutWaitTime(Map.of("copy", 1));
        Acquire further = withoutWaitTime(Map.of("copy", 1, "network", 1));
        List.of(first, same).forEach(acquire -> acquire.found(acquire.attempt().postponed("copy")));
        List.of(first, other, same, further).forEach(queue::add);

        Batch batch = take();

        assertThat(batch.awaited()).containsExactly("copy");
        assertThat(batch.members()).containsExactly(first, same);
    }

    @Test
    void countASemaphoreOnceTowardsTheMaximumOfNames() {
        for (int i = 0; i < 199; i++) {
            queue.add(withoutWaitTime(Map.of("name-" + i, 1)));
        }
        queue.add(withoutWaitTime(Map.of("name-0", 1, "another", 1)));

        assertThat(queue.take(true, false).names()).hasSize(200).contains("another");
    }

    private Acquire caller(Map<String, Integer> permits) {
        return acquire(command(permits), true, Deadline.after(now, Duration.ofMinutes(1)), clock);
    }

    private void park(
            Map<String, Integer> permits, Set<String> full, LocalDateTime readAt, int free, WaitersElsewhere others) {
        park(caller(permits), full, readAt, free, others);
    }

    /** The database refuses an acquire. So many permits are available of the semaphores that are not full. */
    private void park(Acquire acquire, Set<String> full, LocalDateTime readAt, int free, WaitersElsewhere others) {
        boolean isTried = several.add(acquire);
        if (!isTried) {
            return;
        }
        Map<String, RemainingAvailability> left = acquire.names().stream()
                .collect(Collectors.toMap(
                        name -> name,
                        name -> new RemainingAvailability(
                                4, 4 - free, full.contains(name) ? 0 : free, 7, 7, readAt, others, true)));
        List<PermitShortage> shortages = full.stream()
                .map(name -> new PermitShortage(name, 4, 4, 1, Optional.empty()))
                .toList();
        Settlement.Result unused = several.finish(
                several.take(true, false),
                new BatchResult(
                        Collections.nCopies(1, new GrantOutcome.Refused(shortages)), left, List.of(), Map.of(), now),
                0);
    }
}
