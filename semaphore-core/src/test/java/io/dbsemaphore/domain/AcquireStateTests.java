package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Places;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AcquireStateTests {

    private final AcquireState state = new AcquireState(
            new AcquireCommand("id", false, true, Map.of("backup", 1), false, null, "test", null, null));

    /** Otherwise a caller that is woken and refused again would go to the end of the queue. */
    @Test
    void keepsItsPlaceWhenItIsRefusedAgain() {
        assertThat(state.hasWaited()).isEqualTo(false);

        state.moveTo(state.position().with(new Arrival(0, 9, true)));
        state.moveTo(state.position().refused(new Places(7, 0)));
        state.moveTo(state.position().refused(new Places(8, 0)));
        state.moveTo(state.position().with(new Arrival(0, 3, true)));

        assertThat(state.hasWaited()).isEqualTo(true);
        assertThat(state.place()).isEqualTo(Places.at(7));
    }
}
