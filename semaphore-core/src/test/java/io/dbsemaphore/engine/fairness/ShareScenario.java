package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Scenarios that other systems document or test, most of them approximately: what happens, and who is served in which order if no process is
 * killed. The number in the name of a share is its weight.
 */
enum ShareScenario {
    /** Temporal: a late key is served before the backlog of another. */
    LATE_KEY(1, line -> line.join("a a a a b"), is("a b a a a")),

    /** Temporal: a key that comes later takes its turns at once. */
    KEY_THAT_COMES_LATER(1, line -> line.join("a a a a b").serve(2).join("c c"), is("a b c a c a a")),

    /** Temporal: a key of weight five has five grants for each one of another. */
    WEIGHT_OF_FIVE(1, line -> line.join(20, "a").join(20, "b5"), is("a b5 b5 b5 b5 b5 ".repeat(4) + "a ".repeat(16))),

    /** Temporal: weights are proportions of the grants. */
    WEIGHTS(1, line -> line.join(25, "A5").join(15, "B3").join(10, "C2"), order -> {
        assertThat(counts(order.subList(0, 10), "A5", "B3", "C2")).containsExactly(5, 3, 2);
        assertThat(counts(order.subList(0, 40), "A5", "B3", "C2")).containsExactly(20, 12, 8);
        ProcessCallers.assertShared(order.subList(0, 50), List.of("A5", "B3", "C2"));
    }),

    /** Temporal: the share of an absent key goes to the others in proportion. */
    ABSENT_KEY(
            1,
            line -> line.join(15, "A5").join(9, "B3"),
            order -> assertThat(counts(order.subList(0, 16), "A5", "B3")).containsExactly(10, 6)),

    /** Temporal: callers without a share are one key of weight 1. */
    NO_SHARE(1, line -> line.join(4, "-").join(6, "c3"), is("- c3 c3 c3 - c3 c3 c3 - -")),

    /** Temporal: the sum over the keys of the index of their first service is the least possible. */
    ZIPF(1, line -> line.join(zipf()), order -> {
        List<Integer> first =
                new TreeSet<>(order).stream().map(order::indexOf).sorted().toList();
        assertThat(first).hasSize(10);
        assertThat(first.stream().mapToInt(index -> index).sum()).isEqualTo(45);
    }),

    /** Hatchet: three keys by turns, two at once. */
    ROUND_ROBIN(2, line -> line.join(5, "A").join(5, "B").join(5, "C"), is("A B C ".repeat(5))),

    /** Hatchet: who is past its wait time is never served, however early its place. */
    WAIT_TIME_PASSED(1, line -> line.joinBriefly("a", "a a b a b b"), is("a b a b a b")),

    /** Trigger.dev: a flood of one key does not delay another. */
    SKEW(1, line -> line.join(20, "a").serve(10).join("b b b"), is("a ".repeat(10) + "b a b a b " + "a ".repeat(8))),

    /** Trigger.dev: a trickle beside a backlog waits for one grant at most. */
    TRICKLE(
            1,
            line -> {
                line.join(20, "a");
                for (int i = 0; i < 8; i++) {
                    line.join("b").serve(2);
                }
            },
            order -> {
                for (int i = 0; i < 16; i += 2) {
                    assertThat(order.subList(i, i + 2)).containsExactlyInAnyOrder("a", "b");
                }
            }),

    /** Trigger.dev: a tenant that splits itself over many keys gains nothing. */
    SYBIL(1, line -> line.join(keys()).join(5, "small/x"), order -> {
        List<String> tenants = order.stream()
                .map(share -> share.substring(0, share.indexOf('/')))
                .toList();
        assertThat(String.join(" ", tenants.subList(0, 10)))
                .isEqualTo("big small ".repeat(5).trim());
    }),

    /** Trigger.dev: a lone key gets everything, and owes nothing. */
    ALONE(1, line -> line.join(12, "a").serve(8).join("b b b"), is("a a a a a a a a b a b a b a a"));

    private final int capacity;
    private final Consumer<ProcessCallers> events;
    private final Consumer<List<String>> facts;

    ShareScenario(int capacity, Consumer<ProcessCallers> events, Consumer<List<String>> facts) {
        this.capacity = capacity;
        this.events = events;
        this.facts = facts;
    }

    int capacity() {
        return capacity;
    }

    /** Runs it, until all callers have been served. */
    void run(ProcessCallers line) {
        events.accept(line);
        line.end();
    }

    /** What is known of the order in which the shares are served if no process is killed. */
    void assertFacts(List<String> order) {
        facts.accept(order);
    }

    private static Consumer<List<String>> is(String expected) {
        return order -> assertThat(order.stream()
                        .map(share -> share.isEmpty() ? "-" : share)
                        .collect(Collectors.joining(" ")))
                .isEqualTo(expected.trim());
    }

    private static List<Integer> counts(List<String> order, String... shares) {
        return List.of(shares).stream()
                .map(share -> Collections.frequency(order, share))
                .toList();
    }

    private static String keys() {
        return IntStream.range(0, 30).mapToObj(key -> "big/" + key).collect(Collectors.joining(" "));
    }

    /** 225 callers of ten keys by Zipf(2, 2): each key at least once, in random order. */
    private static String zipf() {
        Random random = new Random(13);
        List<String> shares = IntStream.range(0, 225)
                .mapToObj(i -> "k" + (i < 10 ? i : zipf(random.nextDouble())))
                .collect(Collectors.toList());
        Collections.shuffle(shares, random);
        return String.join(" ", shares);
    }

    private static int zipf(double random) {
        double sum = IntStream.range(0, 10).mapToDouble(ShareScenario::part).sum();
        double left = random * sum;
        int key = 0;
        while (key < 9 && left >= part(key)) {
            left -= part(key);
            key++;
        }
        return key;
    }

    private static double part(int key) {
        return 1.0 / ((2 + key) * (2 + key));
    }
}
