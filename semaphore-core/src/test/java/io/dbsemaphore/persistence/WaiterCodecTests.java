package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Waiter;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WaiterCodecTests {

    private static final long SINCE = 1_795_000_000_000_000L;
    private static final String BY_PLACE = "0:7";

    @Test
    void decodesWhatItEncodes() {
        List<Waiter> waiters = List.of(
                waiter(100, 1),
                new Waiter(Places.at(SINCE), Ask.of(20), true),
                new Waiter(Places.at(SINCE + 1_000_000), Ask.ALL, false),
                new Waiter(Places.at(SINCE + 1_000_000), Ask.ALL, true),
                waiter(50, Integer.MAX_VALUE));

        String text = WaiterCodec.encode(waiters, SINCE);

        assertThat(text).isEqualTo("1 2s:1 -2s:20+ lfls:* 0:*+ -lfke:2147483647");
        assertThat(WaiterCodec.decode(text, BY_PLACE, SINCE)).isEqualTo(waiters);
    }

    /** The text is the same as before for a caller without one. Versions without head starts skip what follows the semicolon. */
    @Test
    void decodesHeadStarts() {
        List<Waiter> waiters = List.of(
                new Waiter(Places.at(SINCE - 50), Ask.ALL, true, 100),
                waiter(0, 1),
                new Waiter(Places.at(SINCE + 100), Ask.of(2), false, TimeUnit.DAYS.toMicros(365)));

        String text = WaiterCodec.encode(waiters, SINCE);

        assertThat(text).isEqualTo("1 -1e:*+;h=2s 1e:1 2s:2;h=b6ffs5xc0");
        assertThat(WaiterCodec.decode(text, BY_PLACE, SINCE)).isEqualTo(waiters);
        assertThat(WaiterCodec.encodeByPlace(waiters, SINCE)).isEqualTo("-1e:*+ 1e:1 2s:2");
    }

    @Test
    void isReadByEarlierVersionsInTheOrderOfThePlaces() {
        List<Waiter> waiters = List.of(waiter(100, 1), waiter(0, 2), waiter(50, 3));

        String text = WaiterCodec.encodeByPlace(waiters, SINCE);

        assertThat(text).isEqualTo("0:2 1e:3 1e:1");
        assertThat(WaiterCodec.decode(null, text, SINCE)).containsExactly(waiter(0, 2), waiter(50, 3), waiter(100, 1));
    }

    @Test
    void skipsWhatALaterVersionAppendsToACaller() {
        assertThat(WaiterCodec.decode("1 0:1;s=a/b 2s:2+; 0:3;h=2s,s=a/b 0:4;h=-", BY_PLACE, SINCE))
                .containsExactly(
                        waiter(0, 1),
                        new Waiter(Places.at(SINCE + 100), Ask.of(2), true),
                        new Waiter(Places.at(SINCE + 100), Ask.of(3), false, 100),
                        waiter(100, 4));
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
        assertThat(WaiterCodec.decode(text, BY_PLACE, SINCE)).containsExactly(waiter(0, 1));
    }

    @Test
    void fitsTheColumnsWithTheLongestNumbers() {
        long year = TimeUnit.DAYS.toMicros(365);
        Waiter longest = new Waiter(Places.at(SINCE - year), Ask.of(Integer.MAX_VALUE), true, year);
        Waiter other = new Waiter(Places.at(SINCE + year), Ask.of(Integer.MAX_VALUE), true, year);
        List<Waiter> waiters = Collections.nCopies(LineHead.MAX_FIRST / 2, List.of(longest, other)).stream()
                .flatMap(List::stream)
                .toList();

        assertThat(WaiterCodec.encode(waiters, SINCE)).hasSizeLessThan(1_000);
    }

    private static Waiter waiter(long micros, int permits) {
        return new Waiter(Places.at(SINCE + micros), Ask.of(permits), false);
    }
}
