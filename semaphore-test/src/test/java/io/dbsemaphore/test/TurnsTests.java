package io.dbsemaphore.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Who is next. Each letter in a text is the share of a caller. */
class TurnsTests {

    private final Map<String, Integer> weights = new HashMap<>();
    private final List<String> waiting = new ArrayList<>();
    private int capacity = 1;
    private final Turns turns = new Turns(() -> capacity, share -> weights.getOrDefault(share, 1));

    @Test
    void tenantsTakeTurns() {
        wait("aaaab");

        assertThat(serveAll()).isEqualTo("abaaa");
    }

    @Test
    void aTenantThatComesLaterTakesTurnsAtOnceAndMakesUpForNothing() {
        wait("aaaab");
        assertThat(serve(2)).isEqualTo("ab");

        wait("cc");

        assertThat(serveAll()).isEqualTo("cacaa");
    }

    @Test
    void aTenantThatComesBackMakesUpForNothing() {
        wait("a".repeat(3000));
        serve(2000);

        wait("bbb");

        assertThat(serve(7)).isEqualTo("babab" + "aa");
    }

    @Test
    void aHeavierTenantHasMoreTurns() {
        weights.put("b", 5);
        wait("a".repeat(20) + "b".repeat(20));

        assertThat(serve(26)).isEqualTo("abbbbbabbbbbabbbbbabbbbbaa");
    }

    @Test
    void threeTenantsTakeTurnsInTheOrderOfTheirArrival() {
        wait("AAAAABBBBBCCCCC");

        assertThat(serveAll()).isEqualTo("ABC".repeat(5));
    }

    @Test
    void manyKeysOfATenantHaveItsTurns() {
        IntStream.range(0, 100).forEach(key -> waiting.add("big/" + key));
        waiting.addAll(List.of("small", "small", "small", "small", "small"));

        List<String> served = Stream.generate(this::serveOne).limit(105).toList();

        assertThat(served.lastIndexOf("small")).isEqualTo(9);
    }

    @Test
    void theKeysOfATenantTakeItsTurns() {
        waiting.addAll(List.of("t/x", "t/x", "t/x", "t/y", "u", "u"));

        assertThat(Stream.generate(this::serveOne).limit(6)).containsExactly("t/x", "u", "t/y", "u", "t/x", "t/x");
    }

    @Test
    void theWeightOfATenantIsNotThatOfItsCallersWithoutAKey() {
        weights.putAll(Map.of("t", 2, "t/x", 3));
        waiting.addAll(List.of("t", "t", "t", "t/x", "t/x", "t/x", "u"));

        assertThat(Stream.generate(this::serveOne).limit(7)).containsExactly("t", "u", "t/x", "t/x", "t/x", "t", "t");
    }

    @Test
    void callersWithoutAShareAreOneTenant() {
        weights.put("", 9);
        waiting.addAll(List.of("", "", "", "a", "a"));

        assertThat(Stream.generate(this::serveOne).limit(5)).containsExactly("", "a", "", "a", "");
    }

    @Test
    void severalPermitsCountAsSeveralGrants() {
        capacity = 3;
        turns.granted("a", 3);
        wait("aabbbb");

        assertThat(serveAll()).isEqualTo("bbbab" + "a");
    }

    @Test
    void neverDiffersByMoreThanAGrantPerUnitOfWeight() {
        weights.putAll(Map.of("b", 3, "c", 6));
        wait("a".repeat(400) + "b".repeat(400) + "c".repeat(400));
        Map<String, Integer> granted = new HashMap<>(Map.of("a", 0, "b", 0, "c", 0));

        for (int i = 0; i < 600; i++) {
            granted.merge(serveOne(), 1, Integer::sum);
            List<Double> perWeight = granted.entrySet().stream()
                    .map(each -> (double) each.getValue() / weights.getOrDefault(each.getKey(), 1))
                    .sorted()
                    .toList();
            assertThat(perWeight.get(2) - perWeight.get(0)).isLessThanOrEqualTo(1 + 1.0 / 3);
        }
        assertThat(granted).containsEntry("a", 60).containsEntry("b", 180).containsEntry("c", 360);
    }

    @Test
    void aChangedWeightCountsForThoseThatWait() {
        capacity = 10;
        turns.granted("a", 10);
        wait("aaabb");

        weights.put("a", 1000);

        assertThat(serveAll()).isEqualTo("baaab");
    }

    @Test
    void aCopyGoesItsOwnWay() {
        wait("ab");
        turns.copy().granted("a", 1);

        assertThat(serveAll()).isEqualTo("ab");
    }

    @Test
    void beginsAgainBeforeNumbersOverflow() {
        capacity = Integer.MAX_VALUE;
        List<String> both = List.of("a", "b");
        Map<String, Integer> granted = new HashMap<>();

        for (int i = 0; i < 99; i++) {
            String share = both.get(turns.next(both));
            turns.granted(share, capacity);
            granted.merge(share, 1, Integer::sum);
        }

        assertThat(granted).as("a, b, a, then from the beginning").isEqualTo(Map.of("a", 66, "b", 33));
    }

    private void wait(String shares) {
        waiting.addAll(Arrays.asList(shares.split("")));
    }

    private String serveAll() {
        return serve(waiting.size());
    }

    private String serve(int callers) {
        StringBuilder served = new StringBuilder();
        for (int i = 0; i < callers; i++) {
            served.append(serveOne());
        }
        return served.toString();
    }

    private String serveOne() {
        String share = waiting.remove(turns.next(waiting));
        turns.granted(share, 1);
        return share;
    }
}
