package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.PermitShortage;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        assertThat(five.take(1, false)).isEqualTo(1);
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
        assertThat(five.fits(3, false, 0)).isTrue();
        assertThat(five.fits(4, false, 0)).isFalse();
        assertThat(five.fits(3, false, 1)).isFalse();
        assertThat(five.fits(2, false, 1)).isTrue();
        assertThat(five.fits(5, true, 0)).isFalse();
        assertThat(availability(5, 0).fits(5, true, 0)).isTrue();
        assertThat(availability(5, 0).fits(5, true, 1)).isFalse();
        assertThat(heldExclusively().fits(1, false, 0)).isFalse();
        assertThat(availability(0, 0).fits(0, true, 0)).as("paused").isFalse();
    }

    @Test
    void isExceededByMoreThanItsCapacityUnlessPaused() {
        assertThat(availability(5, 0).isExceededBy(6)).isTrue();
        assertThat(availability(5, 0).isExceededBy(5)).isFalse();
        assertThat(availability(0, 0).isExceededBy(6)).isFalse();
    }

    @Test
    void takesAndReserves() {
        SemaphoreAvailability five = availability(5, 1);
        five.reserve(2, false);
        assertThat(five.fits(2, false, 0)).isTrue();
        assertThat(five.fits(3, false, 0)).isFalse();
        assertThat(five.take(4, false)).as("what was reserved for it").isEqualTo(4);
        assertThat(five.held()).isEqualTo(5);
        assertThatIllegalStateException().isThrownBy(() -> five.take(1, false)).withMessageContaining("5 of 5 held");
        SemaphoreAvailability free = availability(5, 0);
        assertThat(free.take(1, true)).as("all of it").isEqualTo(5);
        assertThat(free.available()).isZero();
        assertThat(free.fits(0, false, 0)).isFalse();
        SemaphoreAvailability reserved = availability(5, 0);
        reserved.reserve(1, true);
        assertThat(reserved.fits(1, false, 0)).isFalse();
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
        acquire.setDemandAhead(Map.of("backup", new Demand(4, 3)));
        InstanceQueue others =
                new InstanceQueue(7, 2, List.of(new Waiter(Place.at(0), 2, false, false)), 1, OPEN.plusSeconds(2));
        assertThat(availability(OPEN, WaitersElsewhere.NONE).withheldFrom(acquire, "backup"))
                .isEqualTo(4);
        assertThat(availability(CLOSED, WaitersElsewhere.NONE).withheldFrom(acquire, "backup"))
                .isEqualTo(1);
        WaitersElsewhere elsewhere = WaitersElsewhere.of(List.of(others), 1, OPEN);
        assertThat(availability(OPEN, elsewhere).withheldFrom(acquire, "backup"))
                .isEqualTo(6);
    }

    @Test
    void describesAShortage() {
        SemaphoreAvailability five = availability(5, 2);
        five.reserve(1, false);
        assertThat(five.shortage(3, false, 1)).isEqualTo(new PermitShortage("backup", 5, 2, 3, Optional.empty(), 2));
        assertThat(five.shortage(1, true, 7))
                .as("all of it; no more is withheld than is available")
                .isEqualTo(new PermitShortage("backup", 5, 2, 5, Optional.empty(), 3));
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
