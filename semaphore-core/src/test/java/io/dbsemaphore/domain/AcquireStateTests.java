package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.Place;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AcquireStateTests {

    private final AcquireState state = new AcquireState(
            new AcquireCommand("id", false, true, Map.of("backup", 1), false, null, "test", null, null));

    /** Otherwise a caller that is woken and refused again would go to the end of the queue. */
    @Test
    void keepsItsPlaceWhenItIsRefusedAgain() {
        assertThat(state.wasRefused()).isEqualTo(false);

        state.setPlace(Place.at(7));
        state.setPlace(Place.at(9));

        assertThat(state.wasRefused()).isEqualTo(true);
        assertThat(state.place()).isEqualTo(Place.at(7));
    }
}
