package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.persistence.WaiterCodec.WithShares;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

    @Test
    void decodesTheSharesThatItEncodes() {
        WithShares callers = new WithShares(
                List.of(
                        waiter(100, 1, "acme/batch"),
                        new Waiter(Places.at(SINCE - 50), Ask.ALL, true, 100, Share.of("acme")),
                        waiter(0, 2, ""),
                        waiter(1_000_000, Integer.MAX_VALUE, "other/")),
                Map.of("", 1, "acme", 5, "acme/batch", 1_000, "other", 1));

        String text = WaiterCodec.encode(callers, SINCE);

        assertThat(text.split("\n"))
                .containsExactly(
                        "1",
                        "2s:1|5,1000|acme/batch",
                        "-46:*+;h=2s|5,1|acme",
                        "1e:2|1,1|",
                        "lfls:2147483647|1,1|other");
        assertThat(WaiterCodec.callers(text)).isEqualTo(4);
        assertThat(WaiterCodec.decodeShares(text, SINCE)).isEqualTo(callers);
    }

    @Test
    void decodesTheNumberOfAllCallersOfAShare() {
        WithShares callers = new WithShares(
                List.of(
                        waiter(0, 1, "acme"),
                        new Waiter(Places.at(SINCE - 50), Ask.of(1), false, 100, Share.of("other")),
                        waiter(50, 1, "acme"),
                        waiter(90, 1, "last/n=3")),
                Map.of("", 1, "acme", 1, "other", 1, "last", 1, "last/n=3", 1),
                Map.of("acme", 40, "other", 2_000_000));

        String text = WaiterCodec.encode(callers, SINCE);

        assertThat(text.split("\n"))
                .containsExactly(
                        "1",
                        "0:1;n=40|1,1|acme",
                        "-1e:1;h=2s,n=2000000|1,1|other",
                        "2s:1|1,1|acme",
                        "14:1|1,1|last/n=3");
        assertThat(WaiterCodec.decodeShares(text, SINCE)).isEqualTo(callers);
    }

    @Test
    void decodesTheNumberAmongWhatALaterVersionAppends() {
        WithShares decoded = WaiterCodec.decodeShares("1\n0:1;y=2,n=7,z=5|1,1|a", SINCE);

        assertThat(decoded).isNotNull();
        assertThat(decoded.byShare()).isEqualTo(Map.of("a", 7));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a|b",
                "|",
                "1,1|x/2,2|y",
                "a b/c d",
                "a/b/c",
                "a//",
                "a;h=5/,",
                "0:1|1,1|a",
                "-",
                "東京/Ελλάδα",
                "🚦/é",
                "a\u2028b"
            })
    void decodesAnyShare(String share) {
        Map<String, Integer> weights = new HashMap<>(Map.of("", 1, share, 4, "z", 3));
        weights.put(Share.of(share).tenant(), 2);
        WithShares callers = new WithShares(List.of(waiter(1, 1, share), waiter(2, 1, "z")), weights);

        assertThat(WaiterCodec.decodeShares(WaiterCodec.encode(callers, SINCE), SINCE))
                .isEqualTo(callers);
    }

    /** The first callers matter most. */
    @Test
    void leavesOutTheLastSharesIfTheTextIsTooLong() {
        List<Waiter> waiters = IntStream.range(0, LineHead.MAX_WITH_SHARES)
                .mapToObj(i -> waiter(i, 1, "東".repeat(185) + "/" + i))
                .toList();

        String text = WaiterCodec.encode(new WithShares(waiters, Map.of()), SINCE);

        assertThat(text).hasSizeBetween(3_801, 4_000);
        int fitting = WaiterCodec.callers(text);
        assertThat(fitting).isBetween(19, 20);
        WithShares decoded = WaiterCodec.decodeShares(text, SINCE);
        assertThat(decoded).isNotNull();
        assertThat(decoded.waiters()).isEqualTo(waiters.subList(0, fitting));
    }

    @Test
    void fitsAllCallersWithSharesOfUsualLengths() {
        List<Waiter> waiters = IntStream.range(0, LineHead.MAX_WITH_SHARES)
                .mapToObj(i -> waiter(i, 1, "tenant-%05d/key-%015d".formatted(i, i)))
                .toList();

        assertThat(WaiterCodec.callers(WaiterCodec.encode(new WithShares(waiters, Map.of()), SINCE)))
                .isEqualTo(LineHead.MAX_WITH_SHARES);
    }

    @Test
    void decodesWeightsOfOneAtLeastAndOneOfCallersWithoutAShare() {
        WithShares decoded = WaiterCodec.decodeShares("1\n0:1|0,0|a/b\n0:1|7,7|\n0:1|0003,9|c", SINCE);

        assertThat(decoded).isNotNull();
        assertThat(decoded.weights()).isEqualTo(Map.of("", 1, "a", 1, "a/b", 1, "c", 3));
    }

    @Test
    void skipsWhatALaterVersionAppendsToACallerWithAShare() {
        WithShares decoded = WaiterCodec.decodeShares("1\n0:1;z=5|2,3|a/b", SINCE);

        assertThat(decoded).isEqualTo(new WithShares(List.of(waiter(0, 1, "a/b")), Map.of("", 1, "a", 2, "a/b", 3)));
    }

    /** Its instance then counts as one that knows no shares, unless it says that nobody has one. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "2\n0:1|1,1|a",
                "11\n0:1|1,1|a",
                "",
                "-",
                "1",
                "1\n",
                "1\n0:1|1,1|a\n",
                "1\n0:1|1,1",
                "1\n0:1|1|a",
                "1\n0:1|-1,1|a",
                "1\n0:1|10000,1|a",
                "1\n0:0|1,1|a",
                "1\n0:1 0:1|1,1|a",
                "1\n0:1|1,1|a\n0:?|1,1|b",
                "1 0:1"
            })
    void doesNotUnderstandOtherTextsWithShares(String text) {
        assertThat(WaiterCodec.decodeShares(text, SINCE)).isNull();
    }

    /** At these characters a line of text may end, though no line of a record does. They are no control characters. */
    @ParameterizedTest
    @ValueSource(strings = {"a\u2028b/c", "a\u2029/\u2028"})
    void decodesSharesWithLineSeparators(String share) {
        List<Waiter> waiters = List.of(waiter(1, 1, share), waiter(2, 1, "z"));

        WithShares decoded =
                WaiterCodec.decodeShares(WaiterCodec.encode(new WithShares(waiters, Map.of(share, 4)), SINCE), SINCE);

        assertThat(decoded).isNotNull();
        assertThat(decoded.waiters()).isEqualTo(waiters);
        assertThat(decoded.weights()).containsEntry(share, 4);
    }

    private static Waiter waiter(long micros, int permits, String share) {
        return new Waiter(Places.at(SINCE + micros), Ask.of(permits), false, 0, Share.of(share));
    }

    private static Waiter waiter(long micros, int permits) {
        return new Waiter(Places.at(SINCE + micros), Ask.of(permits), false);
    }
}
