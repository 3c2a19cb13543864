package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.ShareOrder.Candidate;
import io.dbsemaphore.line.ShareTags.Finish;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;

/** Callers are named by the time of their arrival. */
class ShareOrderTests {

    private static final LocalDateTime LATER = LocalDateTime.of(2026, 1, 1, 0, 0);
    private static final long HERE = 5;

    private final ShareTags tags = new ShareTags();

    @Test
    void followsTheTags() {
        tags.setTime(ShareTags.UNIT);
        tags.setTenant("a", new Finish(2 * ShareTags.UNIT, 0, 0));
        Waiter ahead = one(1, "a");

        ShareOrder order = order(true, elsewhere(), ahead, one(2, "b"), one(3, "c"), one(4, "b"));

        assertThat(arrivals(order)).containsExactly(2L, 3L, 1L, 4L);
        assertThat(order.placeOf(ahead)).isEqualTo(new Place(2, 1));
        assertThat(order.placeOf("another")).isNull();
    }

    @Test
    void placesCallersOfSeveralSemaphoresFirstWhileTheWindowIsOpen() {
        Waiter several = several(3, "a");
        Waiter first = one(1, "a");

        ShareOrder order = order(true, elsewhere(queue(7, several(2, "b"))), first, several, one(4, "b"));

        assertThat(arrivals(order)).containsExactly(2L, 3L, 1L, 4L);
        assertThat(order.placeOf(several)).isLessThan(order.placeOf(first));
    }

    @Test
    void placesCallersOfSeveralSemaphoresLastWhileTheWindowIsClosed() {
        Waiter several = several(0, "a");
        Waiter last = one(2, "a");

        ShareOrder order = order(false, elsewhere(queue(7, several(3, "b"))), last, several, one(4, "b"));

        assertThat(arrivals(order)).containsExactly(2L, 4L, 0L, 3L);
        assertThat(order.placeOf(several)).isGreaterThan(order.placeOf(last));
    }

    @Test
    void hasTheCallersOfOtherInstancesAtTheirTurns() {
        Waiter first = one(1, "a");
        Waiter second = one(3, "a");

        ShareOrder order =
                order(true, elsewhere(queue(7, one(2, "a"), one(5, "b")), queue(8, one(4, "c"))), first, second);

        assertThat(arrivals(order)).containsExactly(1L, 4L, 5L, 2L, 3L);
        WaitersElsewhere others = order.elsewhere();
        assertThat(others.queues().get(0).first())
                .extracting(waiter -> waiter.place().at())
                .containsExactly(5L, 2L);
        assertThat(others.callersAhead(order.placeOf(first))).isZero();
        assertThat(others.callersAhead(order.placeOf(second))).isEqualTo(3);
        assertThat(others.instance()).isEqualTo(HERE);
    }

    @Test
    void decidesTiesByTheInstance() {
        assertThat(order(true, elsewhere(queue(7, one(1, "b"))), one(1, "a")).inOrder())
                .extracting(Candidate::instance)
                .containsExactly(HERE, 7L);
        assertThat(order(true, elsewhere(queue(4, one(1, "b"))), one(1, "a")).inOrder())
                .extracting(Candidate::instance)
                .containsExactly(4L, HERE);
    }

    /** Each knows the weights of its own callers; of a share that waits in both, the larger weight counts. */
    @Test
    void isTheSameInInstancesWithOtherWeights() {
        Waiter[] here = {one(1, "a"), one(2, "a"), one(3, "a"), one(4, "c"), one(5, "c"), one(6, "t/x"), one(7, "t/x")};
        Waiter[] there = {one(8, "b"), one(9, "b"), one(10, "c"), one(11, "t/y"), one(12, "t/y"), one(13, "t/y")};
        Map<String, Integer> knownHere = Map.of("a", 5, "b", 1, "c", 2, "t", 7, "t/x", 1, "t/y", 9);
        Map<String, Integer> knownThere = Map.of("a", 1, "b", 3, "c", 4, "t", 6, "t/x", 4, "t/y", 2);
        RecordedHead recordHere = recorded(HERE, Map.of("a", 5, "c", 2, "t", 7, "t/x", 1), here);
        RecordedHead recordThere = recorded(7, Map.of("b", 3, "c", 4, "t", 6, "t/y", 2), there);
        Map<String, Integer> agreed = Map.of("a", 5, "b", 3, "c", 4, "t", 7, "t/x", 1, "t/y", 2);

        List<Long> seenHere = arrivals(order(true, of(HERE, recordThere), known(knownHere), HERE, here));
        List<Long> seenThere = arrivals(order(true, of(7, recordHere), known(knownThere), 7, there));

        assertThat(seenHere).isEqualTo(seenThere);
        ShareOrder expected =
                new ShareOrder(candidates(HERE, here), elsewhere(queue(7, there)), tags, known(agreed), 4, true);
        assertThat(seenHere).isEqualTo(arrivals(expected));
    }

    @Test
    void weightsOfSharesThatNobodyHasRecordedAreThoseOfThisInstance() {
        List<Candidate> own = candidates(HERE, one(1, "a/x"), one(2, "b"));

        ToIntFunction<String> weights = ShareOrder.weights(
                own,
                elsewhere(recorded(7, Map.of("a", 3, "b", 1, "c", 8), one(3, "c"))),
                share -> share.isEmpty() ? 1 : 2);

        assertThat(List.of("a", "b", "c", "a/x", "d", ""))
                .extracting(weights::applyAsInt)
                .containsExactly(3, 2, 8, 2, 2, 1);
    }

    private static ToIntFunction<String> known(Map<String, Integer> weights) {
        return share -> weights.getOrDefault(share, 1);
    }

    private ShareOrder order(boolean isWindowOpen, WaitersElsewhere elsewhere, Waiter... own) {
        return order(isWindowOpen, elsewhere, share -> 1, HERE, own);
    }

    private ShareOrder order(
            boolean isWindowOpen,
            WaitersElsewhere elsewhere,
            ToIntFunction<String> known,
            long instance,
            Waiter... own) {
        List<Candidate> candidates = candidates(instance, own);
        ToIntFunction<String> weights = ShareOrder.weights(candidates, elsewhere, known);
        return new ShareOrder(candidates, elsewhere, tags, weights, 4, isWindowOpen);
    }

    private static List<Candidate> candidates(long instance, Waiter... own) {
        return Arrays.stream(own)
                .map(waiter ->
                        new Candidate(waiter, waiter, instance, waiter.place().at()))
                .toList();
    }

    private static List<Long> arrivals(ShareOrder order) {
        return order.inOrder().stream().map(each -> each.waiter().place().at()).toList();
    }

    private static WaitersElsewhere elsewhere(RecordedHead... queues) {
        return of(HERE, queues);
    }

    private static WaitersElsewhere of(long instance, RecordedHead... queues) {
        return new WaitersElsewhere(instance, List.of(queues));
    }

    private static RecordedHead queue(long instance, Waiter... first) {
        return recorded(instance, Map.of(), first);
    }

    private static RecordedHead recorded(long instance, Map<String, Integer> weights, Waiter... first) {
        return new RecordedHead(1, instance, List.of(first), first.length, LATER, weights);
    }

    private static Waiter one(long arrival, String share) {
        return new Waiter(Places.at(arrival), Ask.of(1), false, 0, Share.of(share));
    }

    private static Waiter several(long arrival, String share) {
        return new Waiter(Places.at(arrival), Ask.of(1), true, 0, Share.of(share));
    }
}
