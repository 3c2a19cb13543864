package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.line.Admission;
import io.dbsemaphore.line.Admission.Answer;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.LineAhead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class SemaphoreAvailabilityTests {

    private static final LocalDateTime OPEN = LocalDateTime.of(1970, 1, 1, 0, 0, 0);
    private static final LocalDateTime CLOSED = LocalDateTime.of(1970, 1, 1, 0, 0, 1);

    @Test
    void tellsWhatIsAvailable() {
        SemaphoreAvailability five = availability(5, 2);
        assertThat(five.semaphoreId()).isEqualTo(7);
        assertThat(five.semaphore()).isEqualTo(new LockedSemaphore(7, "backup", 5, 10, null));
        assertThat(five.now()).isEqualTo(OPEN);
        assertThat(five.held()).isEqualTo(2);
        assertThat(five.available()).isEqualTo(3);
        assertThat(five.fencingToken(2)).isEqualTo(11);
        assertThat(five.fencingToken(1)).isEqualTo(13);
        assertThat(five.tokens()).isEqualTo(3);
        assertThat(availability(5, 9).available()).as("of a lowered capacity").isZero();
        assertThat(heldExclusively().available()).isZero();
    }

    @Test
    void tellsWhatRemains() {
        SemaphoreAvailability five = availability(5, 2);
        assertThat(five.take(Ask.of(1))).isEqualTo(1);
        assertThat(five.fencingToken(4)).isEqualTo(11);
        assertThat(five.remaining(false))
                .isEqualTo(new RemainingAvailability(5, 3, 2, 10, 14, OPEN, WaitersElsewhere.NONE, false));
        assertThat(availability(5, 9).remaining(true).available())
                .as("of a lowered capacity")
                .isEqualTo(-4);
        assertThat(heldExclusively().remaining(true).available()).isZero();
    }

    @Test
    void fitsUpToTheCapacity() {
        SemaphoreAvailability five = availability(5, 2);
        assertThat(fits(five, Ask.of(3), 0)).isTrue();
        assertThat(fits(five, Ask.of(4), 0)).isFalse();
        assertThat(fits(five, Ask.of(3), 1)).isFalse();
        assertThat(fits(five, Ask.of(2), 1)).isTrue();
        assertThat(fits(five, Ask.ALL, 0)).isFalse();
        assertThat(fits(availability(5, 0), Ask.ALL, 0)).isTrue();
        assertThat(fits(availability(5, 0), Ask.ALL, 1)).isFalse();
        assertThat(fits(heldExclusively(), Ask.of(1), 0)).isFalse();
        assertThat(fits(availability(0, 0), Ask.ALL, 0)).as("paused").isFalse();
    }

    @Test
    void isExceededByMoreThanItsCapacityUnlessPaused() {
        assertThat(admission(availability(5, 0), Ask.of(6)).isNever()).isTrue();
        assertThat(admission(availability(5, 0), Ask.of(5)).isNow()).isTrue();
        assertThat(admission(availability(0, 0), Ask.of(6))).isEqualTo(new Admission(Answer.AFTER_RELEASE, 6));
        assertThat(admission(availability(0, 0), Ask.ALL)).isEqualTo(new Admission(Answer.AFTER_RELEASE, 1));
    }

    @Test
    void takesAndReserves() {
        SemaphoreAvailability five = availability(5, 1);
        five.reserve(Ask.of(2));
        assertThat(fits(five, Ask.of(2), 0)).isTrue();
        assertThat(fits(five, Ask.of(3), 0)).isFalse();
        assertThat(five.take(Ask.of(4))).as("what was reserved for it").isEqualTo(4);
        assertThat(five.held()).isEqualTo(5);
        assertThatIllegalStateException().isThrownBy(() -> five.take(Ask.of(1))).withMessageContaining("5 of 5 held");
        SemaphoreAvailability free = availability(5, 0);
        assertThat(free.take(Ask.ALL)).as("all of it").isEqualTo(5);
        assertThat(free.available()).isZero();
        assertThat(fits(free, Ask.of(1), 0)).isFalse();
        SemaphoreAvailability reserved = availability(5, 0);
        reserved.reserve(Ask.ALL);
        assertThat(fits(reserved, Ask.of(1), 0)).isFalse();
    }

    @Test
    void findsTheLowestTokenThatIsGoingToBeHeld() {
        assertThat(availability(5, 2).liveFrom()).isEqualTo(3);
        assertThat(availability(5, 0).liveFrom()).isEqualTo(11);
    }

    @Test
    void withholdsForCallersAhead() {
        AcquireState acquire = new AcquireState(
                new AcquireCommand("id", false, true, Map.of("backup", 1), false, null, "test", null, null));
        acquire.setDemandAhead(Map.of("backup", new Demand(4, 3, 2)));
        RecordedHead others =
                new RecordedHead(7, 2, List.of(new Waiter(Places.at(0), Ask.of(2), false)), 1, OPEN.plusSeconds(2));
        assertThat(availability(OPEN, WaitersElsewhere.NONE).line(acquire).withheld(5))
                .isEqualTo(4);
        assertThat(availability(CLOSED, WaitersElsewhere.NONE).line(acquire).withheld(5))
                .isEqualTo(1);
        WaitersElsewhere elsewhere = WaitersElsewhere.of(List.of(others), 1, OPEN);
        assertThat(availability(OPEN, elsewhere).line(acquire).withheld(5)).isEqualTo(6);
    }

    @Test
    void describesAShortage() {
        SemaphoreAvailability five = availability(5, 2);
        five.reserve(Ask.of(1));
        assertThat(five.shortage(Ask.of(3), withheld(1)))
                .isEqualTo(new PermitShortage("backup", 5, 2, 3, Optional.empty(), 2, 1, OptionalInt.empty(), false));
        assertThat(five.shortage(Ask.ALL, withheld(7)))
                .as("all of it; no more is withheld than is available")
                .isEqualTo(new PermitShortage("backup", 5, 2, 5, Optional.empty(), 3, 1, OptionalInt.empty(), false));
    }

    private static boolean fits(SemaphoreAvailability availability, Ask ask, long withheld) {
        return availability.admission(ask, withheld(withheld)).isNow();
    }

    private static Admission admission(SemaphoreAvailability availability, Ask ask) {
        return availability.admission(ask, withheld(0));
    }

    private static LineAhead withheld(long permits) {
        return new LineAhead(new Demand(permits, 0, 1), WaitersElsewhere.NONE, Place.LAST, true);
    }

    private static SemaphoreAvailability availability(int capacity, long held) {
        return new SemaphoreAvailability(
                new LockedSemaphore(7, "backup", capacity, 10, null),
                new HeldSum(7, held, false, held > 0 ? 3 : 0, OPEN),
                WaitersElsewhere.NONE);
    }

    private static SemaphoreAvailability availability(LocalDateTime now, WaitersElsewhere elsewhere) {
        return new SemaphoreAvailability(
                new LockedSemaphore(7, "backup", 5, 10, null), new HeldSum(7, 0, false, 0, now), elsewhere);
    }

    private static SemaphoreAvailability heldExclusively() {
        return new SemaphoreAvailability(
                new LockedSemaphore(7, "backup", 5, 10, null), new HeldSum(7, 1, true, 3, OPEN), WaitersElsewhere.NONE);
    }
}
