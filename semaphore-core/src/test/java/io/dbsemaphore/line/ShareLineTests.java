package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.ShareTags.Finish;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ShareLineTests {

    private final ShareTags tags = new ShareTags();
    private final Map<String, Integer> weights = new HashMap<>();
    private final List<Caller> waiting = new ArrayList<>();
    private int capacity = 1;
    private int callers;
    private ShareLine<Caller> line = empty();

    private record Caller(int number, Share share, int permits) {

        private String tenant() {
            return share.tenant();
        }
    }

    private ShareLine<Caller> empty() {
        return new ShareLine<>(
                tags,
                this::weightOf,
                capacity,
                Caller::share,
                Caller::permits,
                Comparator.comparingInt(Caller::number));
    }

    @Test
    void servesALateKeyBeforeTheBacklogOfAnother() {
        join("a", "a", "a", "a", "b");

        assertThat(serve(5)).isEqualTo("a b a a a");
    }

    @Test
    void servesAKeyThatComesLaterAtOnce() {
        join("a", "a", "a", "a", "b");
        assertThat(serve(2)).isEqualTo("a b");

        join("c", "c");

        assertThat(serve(5)).isEqualTo("c a c a a");
    }

    @Test
    void servesAKeyOfWeightFiveFiveTimesForEachTimeOfAnother() {
        weights.put("b", 5);
        join(20, "a");
        join(20, "b");

        assertThat(serve(26)).isEqualTo("a b b b b b a b b b b b a b b b b b a b b b b b a a");
    }

    @Test
    void servesThreeKeysInTurn() {
        capacity = 2;
        line = empty();
        join(5, "A");
        join(5, "B");
        join(5, "C");

        assertThat(serve(15)).isEqualTo("A B C A B C A B C A B C A B C");
    }

    /** As in a line where its rival has one key. */
    @Test
    void aTenantGetsNoMoreByManyKeys() {
        IntStream.range(0, 100).forEach(i -> join("big/" + i));
        join(5, "small/x");

        assertThat(serve(10)).isEqualTo("big/0 small/x big/1 small/x big/2 small/x big/3 small/x big/4 small/x");
        assertThat(serve(2)).isEqualTo("big/5 big/6");
    }

    /** It gets what it had not asked for neither at once nor later. */
    @Test
    void aKeyThatReturnsTakesTurnsFromThenOn() {
        join(300, "a");
        String unused = serve(200);

        join(3, "b");

        assertThat(serve(8)).isEqualTo("b a b a b a a a");
    }

    @Test
    void sharesWithinATenantByTheWeightsOfItsKeys() {
        weights.put("t/u", 4);
        join("t", "t", "t", "t/u", "t/u", "t/u", "t/u", "t/u", "o");

        assertThat(serve(9)).isEqualTo("t o t/u t/u t/u t/u t t/u t");
    }

    @Test
    void largerGrantsCountMore() {
        capacity = 4;
        line = empty();
        Stream.of(3, 3, 3).forEach(permits -> add(new Caller(callers++, Share.of("a"), permits)));
        join(8, "b");

        assertThat(serve(10)).isEqualTo("a b b b a b b b a b");
    }

    @Test
    void anEmptyLineHasNoCallers() {
        assertThat(line.isEmpty()).isEqualTo(true);
        assertThat(line.inOrder().hasNext()).isEqualTo(false);

        join("a/x");
        assertThat(line.isEmpty()).isEqualTo(false);
        assertThat(serve(1)).isEqualTo("a/x");
        assertThat(line.isEmpty()).isEqualTo(true);
        assertThat(line.remove(new Caller(0, Share.of("a/x"), 1))).as("again").isEqualTo(false);
    }

    /** Compares the line with one that is searched for the next caller each time. */
    @Test
    void isInTheOrderOfTheGrants() {
        for (int seed = 0; seed < 300; seed++) {
            new ShareLineTests().compare(new Random(seed), "run " + seed);
        }
    }

    private void compare(Random random, String run) {
        capacity = 1 + random.nextInt(4);
        line = empty();
        for (int step = 0; step < 60; step++) {
            change(random);
            bound();
            String as = run + ", step " + step;
            List<Caller> expected = expectedOrder();
            List<Caller> inOrder = new ArrayList<>();
            line.inOrder().forEachRemaining(inOrder::add);
            assertThat(inOrder).as(as).isEqualTo(expected);
            assertThat(line.first(3)).as(as).isEqualTo(expected.subList(0, Math.min(3, expected.size())));
            Set<Share> shares = waiting.stream().map(Caller::share).collect(Collectors.toSet());
            assertThat(line.keys()).as(as).isEqualTo(shares.size());
            assertThat(line.isEmpty()).as(as).isEqualTo(waiting.isEmpty());
        }
    }

    private void change(Random random) {
        int what = waiting.isEmpty() ? 0 : random.nextInt(12);
        Share share = share(random);
        Finish tenant = tags.tenant(share.tenant());
        switch (what) {
            case 0, 1, 2, 3 -> add(new Caller(callers++, share, 1 + random.nextInt(capacity)));
            case 4 -> remove(waiting.get(random.nextInt(waiting.size())));
            case 5, 6 -> grant(line.first(1).get(0));
            case 7 -> grant(waiting.get(random.nextInt(waiting.size())));
            case 8 -> {
                tags.setTime(tags.time() + random.nextLong(2 * ShareTags.UNIT));
                line.refresh(Set.of());
            }
            case 9 -> {
                long later = tenant.keysTime() + random.nextLong(2 * ShareTags.UNIT);
                tags.setTenant(share.tenant(), new Finish(tenant.finish(), tenant.ownFinish(), later));
                line.refresh(Set.of(share));
            }
            case 10 -> {
                long finish = tags.time() + random.nextLong(maxAhead(share.tenant()));
                tags.setTenant(share.tenant(), new Finish(finish, tenant.ownFinish(), tenant.keysTime()));
                if (!share.key().isEmpty()) {
                    tags.setKey(share, tenant.keysTime() + random.nextLong(maxAhead(share.keyPath())));
                }
                line.refresh(Set.of(share));
            }
            default -> {
                weights.put(random.nextBoolean() ? share.tenant() : share.path(), 1 + random.nextInt(20));
                weights.remove("");
                sort();
            }
        }
    }

    /** What is further ahead moves with the time, which the order of the next grants does not foresee. */
    private void bound() {
        for (Share share : tags.known()) {
            Finish tenant = tags.tenant(share.tenant());
            Finish bounded = new Finish(
                    Math.min(tenant.finish(), tags.time() + maxAhead(share.tenant())),
                    Math.min(tenant.ownFinish(), tenant.keysTime() + maxAhead("")),
                    tenant.keysTime());
            long ofKey = Math.min(tags.key(share), tenant.keysTime() + maxAhead(share.keyPath()));
            if (!bounded.equals(tenant) || (!share.key().isEmpty() && ofKey < tags.key(share))) {
                tags.setTenant(share.tenant(), bounded);
                if (!share.key().isEmpty()) {
                    tags.setKey(share, ofKey);
                }
                line.refresh(new HashSet<>(List.of(share, new Share(share.tenant(), ""))));
            }
        }
    }

    private static Share share(Random random) {
        return Share.of(
                List.of("", "a", "a/x", "a/y", "b/x", "b/y", "b/z", "c", "d/x").get(random.nextInt(9)));
    }

    private long maxAhead(String path) {
        return ShareTags.cost(capacity, weightOf(path));
    }

    private void sort() {
        line = empty();
        waiting.forEach(line::add);
    }

    private List<Caller> expectedOrder() {
        ShareTags copy = new ShareTags();
        copy.learn(tags);
        List<Caller> left = new ArrayList<>(waiting);
        List<Caller> order = new ArrayList<>();
        while (!left.isEmpty()) {
            Caller next = next(copy, left);
            left.remove(next);
            order.add(next);
            count(copy, next, left);
            copy.reach(Long.MAX_VALUE, Map.of());
        }
        return order;
    }

    private Caller next(ShareTags present, List<Caller> left) {
        Map<String, Caller> firstOfTenant = new HashMap<>();
        Comparator<Caller> byKey = Comparator.<Caller>comparingLong(caller -> keyTag(present, caller))
                .thenComparingInt(Caller::number);
        left.forEach(caller -> firstOfTenant.merge(
                caller.tenant(), caller, (one, other) -> byKey.compare(one, other) < 0 ? one : other));
        return firstOfTenant.values().stream()
                .min(Comparator.<Caller>comparingLong(caller -> tenantTag(present, caller))
                        .thenComparingInt(Caller::number))
                .orElseThrow();
    }

    private void count(ShareTags present, Caller caller, List<Caller> left) {
        boolean isAlone = left.stream()
                .noneMatch(other ->
                        other.tenant().equals(caller.tenant()) && !other.share().equals(caller.share()));
        present.grant(
                caller.share(),
                caller.permits(),
                weightOf(caller.tenant()),
                weightOf(caller.share().keyPath()),
                capacity,
                isAlone);
    }

    private long firstTag(ShareTags present) {
        return waiting.stream()
                .mapToLong(caller -> tenantTag(present, caller))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private Map<String, Long> firstTags(ShareTags present) {
        return waiting.stream().collect(Collectors.toMap(Caller::tenant, caller -> keyTag(present, caller), Math::min));
    }

    private long tenantTag(ShareTags present, Caller caller) {
        return present.tenantTag(caller.share(), weightOf(caller.tenant()), capacity);
    }

    private long keyTag(ShareTags present, Caller caller) {
        return present.keyTag(caller.share(), weightOf(caller.share().keyPath()), capacity);
    }

    private int weightOf(String path) {
        return weights.getOrDefault(path, 1);
    }

    private void join(String... shares) {
        Stream.of(shares).forEach(share -> add(new Caller(callers++, Share.of(share), 1)));
    }

    private void join(int count, String share) {
        IntStream.range(0, count).forEach(i -> join(share));
    }

    private void add(Caller caller) {
        waiting.add(caller);
        line.add(caller);
    }

    private void remove(Caller caller) {
        waiting.remove(caller);
        assertThat(line.remove(caller)).isEqualTo(true);
        assertThat(line.remove(caller)).as("again").isEqualTo(false);
    }

    private void grant(Caller caller) {
        remove(caller);
        count(tags, caller, waiting);
        tags.reach(firstTag(tags), firstTags(tags));
        line.refresh(tags.changed());
    }

    /** Grants the permits of the next callers, one after the other. Returns their shares. */
    private String serve(int count) {
        List<String> served = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Caller next = line.first(1).get(0);
            grant(next);
            served.add(next.share().path());
        }
        return String.join(" ", served);
    }
}
