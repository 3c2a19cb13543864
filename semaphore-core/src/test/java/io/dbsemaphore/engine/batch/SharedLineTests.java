package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.LineAhead;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Position;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.ShareTags.Finish;
import io.dbsemaphore.line.ShareTags.Known;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The line of a semaphore of capacity 4 while the window is open, except where a test says otherwise. */
class SharedLineTests {

    private static final long UNIT = ShareTags.UNIT;
    private static final Demand ALL = new Demand(99, 9, 90);

    private final Map<String, Integer> weights = new HashMap<>();
    private final SharedLine line = new SharedLine("backup", share -> weights.getOrDefault(share, 1));
    private long arrivals;

    SharedLineTests() {
        answered(WaitersElsewhere.NONE, null, 0);
    }

    /** Otherwise the next caller of its key would take the same turn. */
    @Test
    void aCallerThatIsTriedKeepsItsTurn() {
        Acquire first = add("a");
        Acquire second = add("a");
        Acquire other = add("b");
        assertThat(inOrder()).containsExactly(first, other, second);

        line.remove(first, true);

        assertThat(inOrder()).containsExactly(other, second);
        assertThat(line.after(first, true)).as("behind it").isEqualTo(other);
        assertThat(line.triedAhead(other)).isEqualTo(1);
        assertThat(line.line(second, ALL, true).here()).as("without it").isEqualTo(new Demand(1, 0, 1));
        assertThat(line.head(2, 0).first()).containsExactly(other.toWaiter("backup"), second.toWaiter("backup"));
    }

    @Test
    void aCallerThatIsRefusedAgainHasItsTurn() {
        Acquire first = add("a");
        Acquire second = add("a");
        Acquire other = add("b");
        line.remove(first, true);
        assertThat(line.first(true)).isEqualTo(other);

        line.add(first);

        assertThat(inOrder()).containsExactly(first, other, second);
        assertThat(line.triedAhead(other)).isZero();
        line.remove(first, false);
        assertThat(inOrder()).as("it was in the line once").containsExactly(second, other);
    }

    @Test
    void aCallerThatIsDoneLeaves() {
        Acquire first = add("a");
        Acquire second = add("a");
        Acquire other = add("b");
        line.remove(first, true);
        assertThat(inOrder()).as("is being tried").containsExactly(other, second);

        first.moveTo(Acquire.Stage.DONE);

        answered(WaitersElsewhere.NONE, null, 0);
        assertThat(inOrder()).as("not counted").containsExactly(second, other);
        answered(WaitersElsewhere.NONE, read(0, "a", UNIT), 0);
        assertThat(inOrder()).as("counted").containsExactly(other, second);
        assertThat(line.triedAhead(second)).isZero();
        assertThat(line.after(first, true)).as("unknown").isNull();
    }

    @Test
    void followsTheTagsOfAnAnswer() {
        Acquire a = add("a");
        Acquire b = add("b/x");
        Acquire c = add("b/y");

        ShareTags read = read(UNIT, "a", 3 * UNIT);
        read.setTenant("b", new Finish(0, 0, 0));
        read.setKey(Share.of("b/x"), UNIT);
        answered(WaitersElsewhere.NONE, read, 0);
        assertThat(inOrder()).containsExactly(c, b, a);

        answered(WaitersElsewhere.NONE, null, 0);
        assertThat(inOrder()).as("an answer without tags").containsExactly(c, b, a);
    }

    /** The rows were deleted: a finish that was not read again is void. */
    @Test
    void forgetsAllFinishesWhenTheTimeGoesBack() {
        Acquire a = add("a");
        Acquire b = add("b");
        answered(WaitersElsewhere.NONE, read(5 * UNIT, "a", 6 * UNIT), 0);
        assertThat(inOrder()).containsExactly(b, a);

        answered(WaitersElsewhere.NONE, read(0, "b", 0), 0);

        assertThat(inOrder()).containsExactly(a, b);
    }

    @Test
    void placesCallersOfSeveralSemaphoresByTheWindow() {
        Acquire one = add("a");
        Acquire several = addSeveral("a");
        Acquire later = addSeveral("b");

        assertThat(inOrder(true)).containsExactly(several, later, one);
        assertThat(inOrder(false)).containsExactly(one, several, later);
        assertThat(line.firstOfOneSemaphore(true)).isEqualTo(one);
        assertThat(line.line(one, ALL, true).here()).isEqualTo(new Demand(2, 2, 2));
        assertThat(line.line(one, ALL, false).here()).isEqualTo(Demand.NONE);
        line.remove(several, false);
        assertThat(inOrder()).containsExactly(later, one);
        assertThat(line.head(2, 0).first()).containsExactly(later.toWaiter("backup"), one.toWaiter("backup"));
    }

    @Test
    void standsAmongTheCallersOfOtherInstances() {
        Acquire first = add("a");
        Acquire second = add("a");
        answered(elsewhere(Map.of(), waiter(10, "b"), waiter(11, "b"), waiter(12, "c")), null, 0);

        assertThat(line.line(first, ALL, true).callers()).isZero();
        LineAhead ahead = line.line(second, ALL, true);
        assertThat(ahead.callers()).isEqualTo(3);
        assertThat(ahead.elsewhere().callersAhead(ahead.place())).isEqualTo(2);

        answered(WaitersElsewhere.NONE, null, 0);
        assertThat(line.line(second, ALL, true).callers()).as("they have left").isEqualTo(1);
    }

    @Test
    void theLargerWeightCountsWhereInstancesDiffer() {
        weights.put("a", 2);
        Acquire b = add("b");
        add(4, "a");
        assertThat(shares()).isEqualTo("b a a a a");

        answered(elsewhere(Map.of("a", 4), waiter(10, "a")), null, 0);
        assertThat(line.head(5, 0).first()).extracting(Waiter::share).startsWith(b.share());
        answered(WaitersElsewhere.NONE, read(0, "b", UNIT / 2), 0);
        assertThat(shares()).as("a of weight 2").isEqualTo("a b a a a");
        answered(elsewhere(Map.of("a", 8), waiter(10, "a")), null, 0);
        assertThat(shares()).as("a of weight 8").isEqualTo("a a a a b");
    }

    @Test
    void countsChangedWeightsAfterTenSeconds() {
        long start = Duration.ofMinutes(1).toNanos();
        add(2, "a");
        add("b");
        answered(WaitersElsewhere.NONE, null, start);
        ShareTags ahead = read(0, "a", 4 * UNIT);
        ahead.setTenant("b", new Finish(UNIT, 0, 0));
        answered(WaitersElsewhere.NONE, ahead, start);
        assertThat(line.head(3, 0).first())
                .extracting(each -> each.share().path())
                .containsExactly("b", "a", "a");

        weights.put("a", 1_000);
        answered(WaitersElsewhere.NONE, null, start + Duration.ofSeconds(10).toNanos());
        assertThat(line.head(3, 0).first())
                .extracting(each -> each.share().path())
                .containsExactly("b", "a", "a");
        answered(WaitersElsewhere.NONE, null, start + Duration.ofSeconds(10).toNanos() + 1);
        assertThat(line.head(3, 0).first())
                .extracting(each -> each.share().path())
                .containsExactly("a", "a", "b");
    }

    @Test
    void comparesOnlyTheFirstWithThoseOfOtherInstances() {
        List<Acquire> all = addKeys(65);

        assertThat(inOrder()).isEqualTo(all.subList(0, 64));
        assertThat(line.knows(all.get(63))).isEqualTo(true);
        assertThat(line.knows(all.get(64))).isEqualTo(false);
        LineAhead ofLast = line.line(all.get(64), ALL, true);
        assertThat(ofLast.here()).isEqualTo(ALL);
        assertThat(ofLast.place()).isEqualTo(Place.LAST);

        line.remove(all.get(0), true);
        answered(WaitersElsewhere.NONE, null, 0);
        assertThat(inOrder()).as("one is being tried").isEqualTo(all.subList(1, 65));
        assertThat(line.triedAhead(caller("a", Map.of("backup", 1), 0))).isEqualTo(1);
    }

    @Test
    void recordsTheFirstAndTellsWhetherKeysAreHidden() {
        List<Acquire> all = addKeys(64);
        add(20, "t0");
        LineHead head = line.head(84, 7);
        assertThat(head.first()).containsExactlyElementsOf(waiters(all));
        assertThat(head.size()).isEqualTo(84);
        assertThat(head.since()).isEqualTo(7);
        assertThat(head.hidesKeys()).isEqualTo(false);

        Acquire last = add("last");
        head = line.head(85, 7);
        assertThat(head.first()).containsExactlyElementsOf(waiters(all));
        assertThat(head.hidesKeys()).isEqualTo(true);

        line.remove(last, true);
        assertThat(line.head(84, 7).hidesKeys())
                .as("only one that is being tried")
                .isEqualTo(false);
    }

    /** A hidden key may come before a caller that is tried only if the tags of the latter have grown. */
    @Test
    void knowsTheTagsOfThoseThatAreTriedBeforeHiddenKeys() {
        List<Acquire> all = addKeys(70);
        ShareTags read = read(2 * UNIT, "t0", 0);
        read.setTenant("t1", new Finish(0, 0, 0));
        read.setKey(Share.of("t1"), 0);
        answered(WaitersElsewhere.NONE, read, 0);
        Acquire first = all.get(0);
        Acquire last = all.get(69);
        line.remove(first, true);
        line.remove(last, true);
        LineHead head = line.head(68, 0);

        assertThat(head.hidesKeys()).isEqualTo(true);
        assertThat(line.known(first)).isEqualTo(new Known(2 * UNIT, 0));
        assertThat(line.known(last)).as("behind them").isNull();
        assertThat(line.known(all.get(1))).as("is not tried").isNull();
    }

    @Test
    void knowsTheTagsAsItHasReadThem() {
        weights.put("a/x", 2);
        Acquire first = add("a/x");
        List<Acquire> unused = addKeys(70);
        ShareTags read = read(2 * UNIT, "a", 9 * UNIT);
        read.setTenant("a", new Finish(3 * UNIT, 0, UNIT));
        read.setKey(Share.of("a/x"), 9 * UNIT);
        IntStream.range(0, 70).forEach(i -> read.setTenant("t" + i, new Finish(3 * UNIT, 0, 0)));
        answered(WaitersElsewhere.NONE, read, 0);
        line.remove(first, true);
        LineHead head = line.head(70, 0);

        assertThat(head.hidesKeys()).isEqualTo(true);
        assertThat(line.known(first)).as("at most the capacity ahead").isEqualTo(new Known(3 * UNIT, UNIT + 2 * UNIT));
    }

    @Test
    void knowsNothingWhereNoKeyIsHidden() {
        Acquire first = addKeys(64).get(0);
        line.remove(first, true);
        LineHead head = line.head(63, 0);

        assertThat(head.hidesKeys()).isEqualTo(false);
        assertThat(line.known(first)).isNull();
    }

    private void answered(WaitersElsewhere elsewhere, @Nullable ShareTags read, long now) {
        line.answered(4, elsewhere, read, now);
    }

    private static ShareTags read(long time, String tenant, long finish) {
        ShareTags read = new ShareTags();
        boolean unused = read.setTime(time);
        read.setTenant(tenant, new Finish(finish, 0, 0));
        return read;
    }

    private static WaitersElsewhere elsewhere(Map<String, Integer> weights, Waiter... first) {
        return new WaitersElsewhere(
                1, List.of(new RecordedHead(1, 7, List.of(first), first.length, Values.NOW, weights)));
    }

    private static Waiter waiter(long arrival, String share) {
        return new Waiter(Places.at(arrival), Ask.of(1), false, 0, Share.of(share));
    }

    private static List<Waiter> waiters(List<Acquire> acquires) {
        return acquires.stream().map(acquire -> acquire.toWaiter("backup")).toList();
    }

    private List<Acquire> inOrder() {
        return inOrder(true);
    }

    private List<Acquire> inOrder(boolean isWindowOpen) {
        List<Acquire> all = new ArrayList<>();
        for (Acquire next = line.first(isWindowOpen); next != null; next = line.after(next, isWindowOpen)) {
            all.add(next);
        }
        return all;
    }

    private String shares() {
        return String.join(
                " ", inOrder().stream().map(each -> each.share().path()).toList());
    }

    private List<Acquire> addKeys(int count) {
        return IntStream.range(0, count).mapToObj(i -> add("t" + i)).toList();
    }

    private void add(int count, String share) {
        IntStream.range(0, count).forEach(i -> add(share));
    }

    private Acquire add(String share) {
        return add(share, Map.of("backup", 1));
    }

    private Acquire addSeveral(String share) {
        return add(share, Map.of("backup", 1, "copy", 1));
    }

    private Acquire add(String share, Map<String, Integer> permits) {
        Acquire added = caller(share, permits, 0);
        line.add(added);
        return added;
    }

    /** A caller that came after the others. */
    private Acquire caller(String share, Map<String, Integer> permits, long headStart) {
        AcquireRequest request =
                AcquireRequest.of("test").withWaitTime(Duration.ofMinutes(1)).withShare(share);
        Acquire caller = new Acquire(
                new Acquire.Call(request, System.nanoTime(), false, null),
                WorkQueueFixture.command(permits),
                QueueClock.SYSTEM);
        long at = ++arrivals;
        caller.setTicket(at);
        caller.moveTo(new Position(Arrival.unknown(at), headStart, Places.at(at - headStart), true));
        caller.moveTo(Acquire.Stage.LINE);
        return caller;
    }
}
