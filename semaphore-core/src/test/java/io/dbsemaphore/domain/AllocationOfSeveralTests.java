package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.entry;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What a decision about two semaphores says to the transaction and to the queue. */
class AllocationOfSeveralTests {

    private static final LocalDateTime OPEN = LocalDateTime.of(1970, 1, 1, 0, 0, 0);
    private static final LocalDateTime CLOSED = LocalDateTime.of(1970, 1, 1, 0, 0, 1);

    private final Map<String, SemaphoreAvailability> availabilities = new TreeMap<>();

    @Test
    void givesEachGrantItsTokens() {
        lock("a", 1, 5, 2, OPEN);
        lock("b", 2, 3, 0, OPEN);
        lock("unused", 3, 3, 1, OPEN);
        AcquireState reusing = acquire(Map.of("a", 1));
        reusing.reuse(new ReuseTerms("a", 1, false, true, Duration.ofSeconds(1), Duration.ofHours(1)), 20);
        AcquireState both = acquire(Map.of("a", 2, "b", 3));

        Allocation allocation = Allocation.of(List.of(reusing, both), availabilities);

        assertThat(allocation.hasRefusals()).isFalse();
        assertThat(allocation.tokens()).containsExactly(entry(1L, 21L), entry(2L, 1L));
        assertThat(allocation.approvals())
                .extracting(Allocation.Approval::shares)
                .containsExactly(
                        List.of(new Allocation.Share("a", availabilities.get("a"), 1, 101)),
                        List.of(
                                new Allocation.Share("a", availabilities.get("a"), 2, 121),
                                new Allocation.Share("b", availabilities.get("b"), 3, 201)));
        assertThat(allocation.availabilities()).isSameAs(availabilities);
        assertThat(allocation.watermarks()).containsExactly(entry(1L, 42L), entry(2L, 201L));
        assertThat(allocation.remaining())
                .containsEntry("a", remaining(5, 5, 0, 100, 121))
                .containsEntry("b", remaining(3, 3, 0, 200, 201))
                .containsEntry("unused", remaining(3, 1, 2, 300, 300));
        assertThat(allocation.now()).isEqualTo(OPEN);
    }

    @Test
    void tellsWhoWaitsForWhat() {
        lock("a", 1, 1, 1, OPEN);
        lock("b", 2, 3, 0, OPEN);
        AcquireState again = waiting(Map.of("a", 1, "b", 2));
        again.moveTo(again.position().refused(new Places(-5, 0)));
        AcquireState fresh = waiting(Map.of("a", 1));
        AcquireState impatient = acquire(Map.of("a", 1));

        Allocation allocation = Allocation.of(List.of(again, fresh, impatient), availabilities);

        assertThat(allocation.hasRefusals()).isTrue();
        assertThat(allocation.waiters(0))
                .containsOnlyKeys("a", "b")
                .containsEntry(
                        "a",
                        List.of(new Waiter(Places.at(-5), Ask.of(1), true), new Waiter(Places.at(0), Ask.of(1), false)))
                .containsEntry("b", List.of(new Waiter(Places.at(-5), Ask.of(2), true)));
        assertThat(allocation.shortfalls()).containsExactly(new Shortfall(1, "a", 3));
    }

    @Test
    void countsWhatIsHeldAboveALoweredCapacityOnce() {
        lock("a", 1, 2, 5, OPEN);
        AcquireState first = acquire(Map.of("a", 1));
        Allocation allocation = Allocation.of(List.of(first, acquire(Map.of("a", 2))), availabilities);
        assertThat(allocation.shortfalls()).containsExactly(new Shortfall(1, "a", 6));
        Instant expiry = Instant.EPOCH;
        assertThat(allocation.refused(Map.of(1L, expiry)))
                .containsEntry(
                        first,
                        new GrantOutcome.Refused(List.of(new PermitShortage("a", 2, 5, 1, Optional.of(expiry), 0))));
    }

    @Test
    void reservesForAcquiresOfSeveralWhileTheWindowIsOpenOnly() {
        for (LocalDateTime now : List.of(OPEN, CLOSED)) {
            lock("a", 1, 1, 1, now);
            lock("b", 2, 1, 0, now);
            AcquireState later = acquire(Map.of("b", 1));
            Allocation allocation = Allocation.of(List.of(waiting(Map.of("a", 1, "b", 1)), later), availabilities);
            assertThat(allocation.refusals().containsKey(later))
                    .as("withheld at %s", now)
                    .isEqualTo(now.equals(OPEN));
        }
    }

    @Test
    void reservesNothingForACallerThatDoesNotWait() {
        lock("a", 1, 3, 1, OPEN);
        AcquireState later = acquire(Map.of("a", 2));
        Allocation allocation = Allocation.of(List.of(acquire(Map.of("a", 3)), later), availabilities);
        assertThat(allocation.approvals())
                .extracting(Allocation.Approval::acquire)
                .containsExactly(later);
    }

    @Test
    void reservesForOneOfOneSemaphoreWheneverItWaits() {
        lock("a", 1, 3, 1, CLOSED);
        AcquireState later = acquire(Map.of("a", 1));
        assertThat(Allocation.of(List.of(waiting(Map.of("a", 3)), later), availabilities)
                        .refusals())
                .containsKey(later);
    }

    @Test
    void rejectsWhatExceedsTheCapacity() {
        lock("a", 1, 3, 0, OPEN);
        AcquireState tooMuch = acquire(Map.of("a", 4));
        Allocation allocation = Allocation.of(List.of(tooMuch), availabilities);
        assertThat(allocation.rejections()).containsOnlyKeys(tooMuch);
        assertThat(allocation.rejections().get(tooMuch))
                .isInstanceOfSatisfying(
                        GrantOutcome.Rejected.class,
                        rejected -> assertThat(rejected.reason()).isInstanceOf(PermitsExceedCapacityException.class));
        assertThat(allocation.hasRefusals()).isFalse();
    }

    @Test
    void takesNoSemaphoreThatIsNotLocked() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Allocation.of(List.of(acquire(Map.of("a", 1))), availabilities))
                .withMessageContaining("a");
    }

    @Test
    void knowsWhoseSemaphoresAreFair() {
        LineHead queue = new LineHead(List.of(new Waiter(Places.at(1), Ask.of(1), false)), 1);
        OwnLines queues = new OwnLines(() -> 3, "me", "a"::equals).with(Map.of("a", queue));
        assertThat(queues.isFair("a")).isTrue();
        assertThat(queues.isFair("b")).isFalse();
        assertThat(queues.of("a")).isSameAs(queue);
        assertThat(queues.of("b")).isEqualTo(LineHead.EMPTY);
        assertThat(queue.isEmpty()).isFalse();
        assertThat(LineHead.EMPTY.isEmpty()).isTrue();
        assertThat(queue.with(List.of())).isSameAs(queue);
    }

    @Test
    void tellsOfOthersThatWait() {
        RemainingAvailability alone = remaining(5, 5, 0, 100, 121);
        WaitersElsewhere elsewhere = WaitersElsewhere.of(
                List.of(new RecordedHead(
                        1, 2, List.of(new Waiter(Places.at(1), Ask.of(1), false)), 1, OPEN.plusSeconds(1))),
                1,
                OPEN);
        assertThat(alone.isAwaitedElsewhere()).isFalse();
        assertThat(new RemainingAvailability(5, 5, 0, 100, 121, OPEN, elsewhere, true).isAwaitedElsewhere())
                .isTrue();
        assertThat(RemainingAvailability.DELETED.isDeleted()).isTrue();
        assertThat(new RemainingAvailability(1, 0, 1, 5, 5, OPEN, WaitersElsewhere.NONE, true).isDeleted())
                .isFalse();
    }

    private void lock(String name, long id, int capacity, long held, LocalDateTime now) {
        availabilities.put(
                name,
                new SemaphoreAvailability(
                        new LockedSemaphore(id, name, capacity, id * 100, null),
                        new HeldSum(id, held, false, held > 0 ? 42 : 0, now),
                        WaitersElsewhere.NONE));
    }

    private static RemainingAvailability remaining(int capacity, long held, long available, long before, long fence) {
        return new RemainingAvailability(capacity, held, available, before, fence, OPEN, WaitersElsewhere.NONE, true);
    }

    private static AcquireState waiting(Map<String, Integer> permits) {
        AcquireState acquire = acquire(permits);
        acquire.setWillingToWait(true);
        return acquire;
    }

    private static AcquireState acquire(Map<String, Integer> permits) {
        return new AcquireState(
                new AcquireCommand("id", false, true, new TreeMap<>(permits), false, null, "test", null, null),
                Arrival.unknown(0),
                0,
                Share.NONE);
    }
}
