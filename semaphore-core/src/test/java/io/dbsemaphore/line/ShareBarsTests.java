package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What shares promise, in numbers: one permit, and time counted in grants. */
class ShareBarsTests {

    private record Caller(int number, Share share) {}

    /** A line of which the permit is granted to the next caller again and again. */
    private static final class Line {

        private final ShareTags tags = new ShareTags();
        private final ToIntFunction<String> weights;
        private final ShareLine<Caller> line;
        private final Map<String, Map<Share, Integer>> waiting = new HashMap<>();
        private int callers;

        private Line(ToIntFunction<String> weights) {
            this.weights = weights;
            line = new ShareLine<>(
                    tags, weights, 1, Caller::share, caller -> 1, Comparator.comparingInt(Caller::number));
        }

        private Caller join(String share) {
            Caller caller = new Caller(callers++, Share.of(share));
            line.add(caller);
            waiting.computeIfAbsent(caller.share().tenant(), added -> new HashMap<>())
                    .merge(caller.share(), 1, Integer::sum);
            return caller;
        }

        private void join(int count, String share) {
            IntStream.range(0, count).forEach(i -> join(share));
        }

        private Caller grant() {
            Caller next = line.first(1).get(0);
            Share share = next.share();
            assertThat(line.remove(next)).isEqualTo(true);
            Map<Share, Integer> ofTenant = waiting.get(share.tenant());
            ofTenant.computeIfPresent(share, (same, count) -> count == 1 ? null : count - 1);
            boolean isAlone = ofTenant.keySet().stream().allMatch(share::equals);
            tags.grant(share, 1, weights.applyAsInt(share.tenant()), weights.applyAsInt(share.keyPath()), 1, isAlone);
            tags.reach(Long.MAX_VALUE, Map.of()); // no smaller tag waits
            Set<Share> changed = new HashSet<>(tags.changed());
            tags.changed().clear();
            line.refresh(changed);
            return next;
        }

        private int grantsUntil(Caller caller) {
            int grants = 1;
            while (!grant().equals(caller)) {
                grants++;
            }
            return grants;
        }

        private List<String> grants(int count) {
            return IntStream.range(0, count)
                    .mapToObj(i -> grant().share().path())
                    .toList();
        }
    }

    /** What a rival with one key waits for beside a tenant with this number of keys, which always has callers of all of them. */
    private static double meanWaitBeside(int keys) {
        Line line = new Line(share -> 1);
        IntStream.range(0, keys).forEach(i -> line.join(1_000 / keys, "sybil/" + i));
        Random random = new Random(7);
        long waits = 0;
        int rivals = 400;
        for (int i = 0; i < rivals; i++) {
            for (int between = random.nextInt(5); between > 0; between--) {
                line.join(line.grant().share().path());
            }
            Caller rival = line.join("rival");
            int grants = 1;
            for (Caller next = line.grant(); !next.equals(rival); next = line.grant()) {
                line.join(next.share().path());
                grants++;
            }
            waits += grants;
        }
        return (double) waits / rivals;
    }

    @Test
    void aTenantWithAThousandKeysDelaysARivalNoMoreThanWithOne() {
        double besideOne = meanWaitBeside(1);

        assertThat(meanWaitBeside(1_000)).isLessThanOrEqualTo(1.05 * besideOne);
        assertThat(besideOne).as("grants").isBetween(1.0, 2.0);
    }

    /** By Zipf's law with the parameters 2 and 2, as in the tests of Temporal. */
    @Test
    void eachOfTenKeysIsServedOnceBeforeAnyIsServedAgain() {
        for (int seed = 0; seed < 200; seed++) {
            Line line = new Line(share -> 1);
            List<String> callers = zipf(new Random(seed));
            callers.forEach(line::join);

            List<String> order = line.grants(callers.size());

            int sum = callers.stream().distinct().mapToInt(order::indexOf).sum();
            assertThat(sum).as("of the first grants, %d", seed).isEqualTo(9 * 10 / 2);
        }
    }

    /** 225 callers, at least one of each key. */
    private static List<String> zipf(Random random) {
        double[] upTo = new double[10];
        for (int key = 0; key < 10; key++) {
            upTo[key] = (key == 0 ? 0 : upTo[key - 1]) + Math.pow(2 + key, -2);
        }
        List<String> callers = new ArrayList<>();
        IntStream.range(0, 10).forEach(key -> callers.add("k" + key));
        while (callers.size() < 225) {
            double at = random.nextDouble() * upTo[9];
            int key = 0;
            while (upTo[key] < at) {
                key++;
            }
            callers.add("k" + key);
        }
        Collections.shuffle(callers, random);
        return callers;
    }

    @Test
    void aKeyThatReturnsBesideABacklogIsServedWithinOneRound() {
        for (int others : List.of(1, 5, 50)) {
            Line line = new Line(share -> 1);
            line.join("back");
            IntStream.range(0, 10_000).forEach(i -> line.join("k" + i % others));
            List<String> unused = line.grants(3_000);

            assertThat(line.grantsUntil(line.join("back"))).isLessThanOrEqualTo(others + 1);
        }
    }

    /** The keys are tenants, or those of a few tenants. Callers come meanwhile. */
    @Test
    @Timeout(60)
    void aHundredThousandKeysAreServedAsBySimpleRules() {
        Random random = new Random(11);
        int keys = 100_000;
        List<String> shares = new ArrayList<>();
        Map<String, Integer> weights = new HashMap<>();
        for (int i = 0; i < keys; i++) {
            String share = i % 2 == 0 ? "k" + i : "t" + i % 7 + "/k" + i;
            shares.add(share);
            weights.put(share, 1 + random.nextInt(1_000));
        }
        IntStream.range(0, 7).forEach(i -> weights.put("t" + i, 1 + random.nextInt(1_000)));
        ToIntFunction<String> weightOf = share -> weights.getOrDefault(share, 1);
        Line line = new Line(weightOf);
        Rules rules = new Rules(weightOf);
        shares.forEach(share -> rules.join(line.join(share)));
        for (int i = 0; i < 60_000; i++) {
            rules.join(line.join(shares.get((int) (keys * Math.pow(random.nextDouble(), 6)))));
        }

        for (int grant = 0; grant < 25_000; grant++) {
            Caller expected = rules.grant();
            assertThat(line.grant()).as("grant %d", grant).isEqualTo(expected);
            for (int i = random.nextInt(3); i > 0; i--) {
                rules.join(line.join(shares.get(random.nextInt(keys / 100))));
            }
        }
    }

    /** The rules, with a heap for each level, whose entries are replaced when they have changed. */
    private static final class Rules {

        private static final long UNIT = 720_720_000;

        private final ToIntFunction<String> weights;
        private final Level tenants = new Level();

        private Rules(ToIntFunction<String> weights) {
            this.weights = weights;
        }

        private static final class Node {

            private final Deque<Caller> callers = new ArrayDeque<>();
            private final Level keys = new Level();
            private long finish;
            private int version;

            private boolean isEmpty() {
                return callers.isEmpty() && keys.waiting == 0;
            }

            private Caller first() {
                return callers.isEmpty() ? keys.first().first() : callers.element();
            }
        }

        private record Entry(long tag, int number, int version, Node node) implements Comparable<Entry> {

            @Override
            public int compareTo(Entry other) {
                return tag != other.tag ? Long.compare(tag, other.tag) : Integer.compare(number, other.number);
            }
        }

        /** What stands at the time is kept by arrival, what is ahead of it by its finish. */
        private static final class Level {

            private final Map<String, Node> nodes = new HashMap<>();
            private final PriorityQueue<Entry> due = new PriorityQueue<>(Comparator.comparingInt(Entry::number));
            private final PriorityQueue<Entry> ahead = new PriorityQueue<>();
            private long time;
            private int waiting;

            private void put(Node node) {
                node.version++;
                if (!node.isEmpty()) {
                    Entry entry = new Entry(node.finish, node.first().number(), node.version, node);
                    (node.finish <= time ? due : ahead).add(entry);
                }
            }

            private Node first() {
                while (!ahead.isEmpty() && (isOld(ahead.peek()) || ahead.peek().tag() <= time)) {
                    Entry entry = ahead.remove();
                    if (!isOld(entry)) {
                        due.add(entry);
                    }
                }
                while (!due.isEmpty() && isOld(due.peek())) {
                    due.remove();
                }
                return (due.isEmpty() ? ahead : due).element().node();
            }

            private static boolean isOld(Entry entry) {
                return entry.version() != entry.node().version;
            }

            private void count(Node node, long cost) {
                time = Math.max(time, node.finish);
                node.finish = time + cost;
            }
        }

        private void join(Caller caller) {
            Node tenant = tenants.nodes.computeIfAbsent(caller.share().tenant(), added -> new Node());
            Node key = tenant.keys.nodes.computeIfAbsent(caller.share().key(), added -> new Node());
            boolean isNext = key.callers.isEmpty();
            boolean isNextOfTenant = tenant.isEmpty();
            key.callers.add(caller);
            tenant.keys.waiting++;
            if (isNext) {
                tenant.keys.put(key);
            }
            if (isNext || isNextOfTenant) {
                tenants.put(tenant);
            }
        }

        private Caller grant() {
            Node tenant = tenants.first();
            Node key = tenant.keys.first();
            Caller next = key.callers.remove();
            tenant.keys.waiting--;
            tenants.count(tenant, UNIT / weights.applyAsInt(next.share().tenant()));
            boolean isAlone = tenant.keys.waiting == key.callers.size();
            if (!isAlone || tenant.keys.nodes.values().stream().anyMatch(each -> each.finish > tenant.keys.time)) {
                tenant.keys.count(key, UNIT / weights.applyAsInt(next.share().keyPath()));
            }
            tenant.keys.put(key);
            tenants.put(tenant);
            return next;
        }
    }
}
