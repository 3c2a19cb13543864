package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.Place;
import io.dbsemaphore.domain.Waiter;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaiterTableTests {

    private static final long SINCE = 1_795_000_000_000_000L;

    @Test
    void decodesWhatItEncodes() {
        List<Waiter> waiters = List.of(
                new Waiter(Place.at(SINCE), 1, false, false),
                new Waiter(Place.at(SINCE), 20, false, true),
                new Waiter(Place.at(SINCE + 100), 0, true, false),
                new Waiter(Place.at(SINCE + 1_000_000), 0, true, true),
                new Waiter(Place.at(SINCE + 1_000_000), Integer.MAX_VALUE, false, false));

        String encoded = WaiterTable.encode(waiters);

        assertThat(encoded).isEqualTo("0:1 0:20+ 2s:* lfj0:*+ 0:2147483647");
        assertThat(WaiterTable.decode(encoded, SINCE)).isEqualTo(waiters);
    }
}
