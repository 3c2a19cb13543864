package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Waiter;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WaiterCodecTests {

    private static final long SINCE = 1_795_000_000_000_000L;
    private static final String BY_ARRIVAL = "0:7";

    @Test
    void decodesWhatItEncodes() {
        List<Waiter> waiters = List.of(
                waiter(100, 1),
                new Waiter(Places.at(SINCE), Ask.of(20), true),
                new Waiter(Places.at(SINCE + 1_000_000), Ask.ALL, false),
                new Waiter(Places.at(SINCE + 1_000_000), Ask.ALL, true),
                waiter(50, Integer.MAX_VALUE));

        String text = WaiterCodec.encode(waiters);

        assertThat(text).isEqualTo("1 2s:1 -2s:20+ lfls:* 0:*+ -lfke:2147483647");
        assertThat(WaiterCodec.earliest(waiters)).isEqualTo(SINCE);
        assertThat(WaiterCodec.decode(text, BY_ARRIVAL, SINCE)).isEqualTo(waiters);
    }

    @Test
    void isReadByEarlierVersionsInTheOrderOfTheArrivals() {
        List<Waiter> waiters = List.of(waiter(100, 1), waiter(0, 2), waiter(50, 3));

        String text = WaiterCodec.encodeByArrival(waiters);

        assertThat(text).isEqualTo("0:2 1e:3 1e:1");
        assertThat(WaiterCodec.decode(null, text, SINCE)).containsExactly(waiter(0, 2), waiter(50, 3), waiter(100, 1));
    }

    @Test
    void skipsWhatALaterVersionAppendsToACaller() {
        assertThat(WaiterCodec.decode("1 0:1;h=500,s=a/b 2s:2+;", BY_ARRIVAL, SINCE))
                .containsExactly(waiter(0, 1), new Waiter(Places.at(SINCE + 100), Ask.of(2), true));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2 0:5 2s:5",
                "1",
                "1 ",
                "1  0:5",
                "1 0:5 ",
                "1 0:0",
                "1 0:-5",
                "1 0:5+x",
                "10 0:5",
                "-1 0:5",
                "?",
                ""
            })
    void takesWhatItDoesNotUnderstandForOneCallerOfOnePermitWhoCameFirst(String text) {
        assertThat(WaiterCodec.decode(text, BY_ARRIVAL, SINCE)).containsExactly(waiter(0, 1));
    }

    @Test
    void fitsTheColumnsWithTheLongestNumbers() {
        Waiter longest = new Waiter(Places.at(Long.MAX_VALUE / 100), Ask.of(Integer.MAX_VALUE), true);
        List<Waiter> waiters = Collections.nCopies(LineHead.MAX_FIRST, longest);

        assertThat(WaiterCodec.encode(waiters)).hasSizeLessThan(1_000);
    }

    private static Waiter waiter(long micros, int permits) {
        return new Waiter(Places.at(SINCE + micros), Ask.of(permits), false);
    }
}
