package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDateTime;
import org.junit.jupiter.api.Test;

class WaiterTests {

    @Test
    void asksForItsPermits() {
        assertThat(new Waiter(Places.at(1), Ask.of(3), false).demand(3)).isEqualTo(new Demand(3, 0, 1));
        assertThat(new Waiter(Places.at(1), Ask.of(3), true).demand(5)).isEqualTo(new Demand(3, 3, 1));
        assertThat(new Waiter(Places.at(1), Ask.of(4), false).demand(3)).isEqualTo(Demand.NONE);
    }

    @Test
    void asksForTheWholeCapacityIfExclusive() {
        assertThat(new Ask(3, true)).isEqualTo(new Ask(7, true));
        assertThat(new Waiter(Places.at(1), Ask.ALL, false).demand(9)).isEqualTo(new Demand(9, 0, 1));
    }

    @Test
    void convertsTheDatabasesTime() {
        LocalDateTime time = LocalDateTime.of(1970, 1, 1, 0, 0, 1, 2_000);
        assertThat(Place.micros(time)).isEqualTo(1_000_002);
        assertThat(Place.utc(1_000_002)).isEqualTo(time);
    }

    @Test
    void isWithheldForWithinTheWindow() {
        assertThat(ReservationWindow.isOpen(0)).isTrue();
        assertThat(ReservationWindow.isOpen(899_999)).isTrue();
        assertThat(ReservationWindow.isOpen(900_000)).isFalse();
        assertThat(ReservationWindow.isOpen(1_999_999)).isFalse();
        assertThat(ReservationWindow.isOpen(2_000_000)).isTrue();
        assertThat(ReservationWindow.isOpen(LocalDateTime.of(1970, 1, 1, 0, 0, 1)))
                .isFalse();
        assertThat(ReservationWindow.isOpen(LocalDateTime.of(1970, 1, 1, 0, 0, 4)))
                .isTrue();
    }
}
