package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.ShareTags.Finish;
import io.dbsemaphore.line.ShareTags.Known;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The decisions of instance 5, of a semaphore of capacity 4. The callers to be decided are {@code "first"} and {@code "second"}. */
class ShareTurnsTests {

    private static final long UNIT = ShareTags.UNIT;
    private static final LocalDateTime LATER = LocalDateTime.of(2026, 1, 1, 0, 0);
    private static final Known AT_ZERO = new Known(0, 0);

    private final ShareTags tags = new ShareTags();
    private final Map<Object, Waiter> members = new LinkedHashMap<>();
    private final Map<Object, Known> known = new LinkedHashMap<>();
    private WaitersElsewhere elsewhere = WaitersElsewhere.NONE;

    @Test
    void grantsOnlyToCallersWhoseTagsAreAsKnownWhileKeysAreHidden() {
        members.put("first", one(1, "a/x"));
        known.put("first", AT_ZERO);
        members.put("second", one(2, "b"));

        ShareTurns turns = turns(hiding(one(3, "c")));

        assertThat(turns.isVerified("first")).as("as known").isEqualTo(true);
        assertThat(turns.isVerified("second")).as("unknown").isEqualTo(false);
        assertThat(turns.isVerified("another")).as("does not stand in the line").isEqualTo(true);
        assertThat(turns(new LineHead(List.of(one(3, "c")), 1)).isVerified("second"))
                .as("no key is hidden")
                .isEqualTo(true);
    }

    /** Another instance has served the same share since: a key that is not known may come before it now. */
    @Test
    void grantsNothingToCallersWhoseTagsHaveGrownWhileKeysAreHidden() {
        members.put("first", one(1, "a/x"));
        known.put("first", AT_ZERO);
        members.put("second", one(2, "b/x"));
        known.put("second", AT_ZERO);
        tags.setTenant("a", new Finish(UNIT, 0, 0));
        tags.setTenant("b", new Finish(0, 0, 0));
        tags.setKey(Share.of("b/x"), UNIT);

        ShareTurns turns = turns(hiding(one(3, "c")));

        assertThat(turns.isVerified("first")).as("tenant").isEqualTo(false);
        assertThat(turns.isVerified("second")).as("key").isEqualTo(false);
        assertThat(turns(new LineHead(List.of(one(3, "c")), 1)).isVerified("first"))
                .as("no key is hidden")
                .isEqualTo(true);
    }

    /** A finish that stayed where it is would be as far ahead after each grant to others. */
    @Test
    void finishesThatAreTooFarAheadAreLowered() {
        members.put("first", one(1, "a"));
        elsewhere = elsewhere(one(2, "b/x"));
        tags.setTenant("a", new Finish(Long.MAX_VALUE, 0, 0));
        tags.setTenant("b", new Finish(Long.MAX_VALUE, 0, UNIT));
        tags.setKey(Share.of("b/x"), Long.MAX_VALUE);

        turns(LineHead.EMPTY);

        long capacity = ShareTags.cost(4, 1);
        assertThat(tags.tenant("a").finish()).isEqualTo(capacity);
        assertThat(tags.tenant("b").finish()).isEqualTo(capacity);
        assertThat(tags.key(Share.of("b/x"))).isEqualTo(UNIT + capacity);
        assertThat(tags.changed()).contains(Share.of("a"), Share.of("b"), Share.of("b/x"));
    }

    @Test
    void aKeyIsNotAloneWhileOthersAreHidden() {
        members.put("first", one(1, "a/x"));
        known.put("first", AT_ZERO);

        ShareTurns turns = turns(hiding(one(3, "c")));
        turns.grant("first", Share.of("a/x"), 1);

        assertThat(tags.key(Share.of("a/x"))).isEqualTo(UNIT);
    }

    @Test
    void timesThatAdvanceLeaveCallersAsKnown() {
        members.put("first", one(1, "a/x"));
        known.put("first", AT_ZERO);
        tags.setTime(7 * UNIT);
        tags.setTenant("a", new Finish(7 * UNIT, 0, 3 * UNIT));
        tags.setKey(Share.of("a/x"), 3 * UNIT);

        assertThat(turns(hiding(one(3, "c"))).isVerified("first")).isEqualTo(true);
    }

    @Test
    void callersOfSeveralSemaphoresHaveNoTags() {
        members.put("first", several(1, "a"));
        tags.setTenant("a", new Finish(UNIT, 0, 0));

        assertThat(turns(hiding(one(3, "c"))).isVerified("first")).isEqualTo(true);
    }

    @Test
    void aCallerSeesThoseBeforeIt() {
        members.put("first", one(2, "a"));
        members.put("second", one(5, "b"));
        elsewhere = elsewhere(one(1, "a"), one(6, "c"));
        Waiter earlier = new Waiter(Places.at(0), Ask.of(2), false, 0, Share.of("d"));
        Waiter tooMany = new Waiter(Places.at(3), Ask.of(5), false, 0, Share.of("e"));

        ShareTurns turns = turns(new LineHead(List.of(earlier, tooMany, one(7, "d")), 3));

        LineAhead line = turns.lineOf("second");
        assertThat(line).isNotNull();
        assertThat(line.here()).isEqualTo(new Demand(2, 0, 2));
        assertThat(line.place()).isEqualTo(turns.placeOf("second")).isLessThan(turns.placeOf("first"));
        assertThat(line.elsewhere().callersAhead(line.place())).isEqualTo(1);
        assertThat(turns.lineOf("another")).isNull();
        assertThat(turns.placeOf("another")).isEqualTo(Place.LAST);
    }

    @Test
    void weightsOfOtherInstancesCount() {
        members.put("first", one(1, "a"));
        elsewhere = new WaitersElsewhere(
                5, List.of(new RecordedHead(1, 7, List.of(one(2, "a"), one(3, "b")), 2, LATER, Map.of("a", 4))));

        ShareTurns turns = turns(LineHead.EMPTY);
        turns.grant("first", Share.of("a"), 1);

        assertThat(turns.tagsAfter().tenant("a").finish()).isEqualTo(UNIT / 4);
    }

    @Test
    void aGrantCountsForTheKeyIfAnotherKeyOfTheTenantWaits() {
        members.put("first", one(1, "a/x"));
        members.put("second", one(2, "b/x"));

        ShareTurns turns = turns(new LineHead(List.of(one(3, "a/y"), one(4, "b/x")), 2));
        turns.grant("first", Share.of("a/x"), 2);
        turns.grant("second", Share.of("b/x"), 1);

        ShareTags after = turns.tagsAfter();
        assertThat(after.key(Share.of("a/x"))).isEqualTo(2 * UNIT);
        assertThat(after.key(Share.of("b/x"))).as("alone").isZero();
        assertThat(after.tenant("a").finish()).isEqualTo(2 * UNIT);
        assertThat(after.tenant("b").finish()).isEqualTo(UNIT);
    }

    /** What was granted before in the same decision does not wait any more. */
    @Test
    void theLastKeyOfATenantIsAlone() {
        members.put("first", one(1, "a/x"));
        members.put("second", one(2, "a/y"));

        ShareTurns turns = turns(new LineHead(List.of(one(3, "b")), 1));
        turns.grant("second", Share.of("a/y"), 1);
        turns.grant("first", Share.of("a/x"), 1);

        ShareTags after = turns.tagsAfter();
        assertThat(after.key(Share.of("a/y"))).isEqualTo(UNIT);
        assertThat(after.key(Share.of("a/x"))).as("beside a key that is ahead").isEqualTo(UNIT);
        assertThat(after.tenant("a").finish()).isEqualTo(2 * UNIT);
    }

    /** A paused semaphore has no permits. */
    @Test
    void aGrantCountsAsOnePermitAtLeast() {
        members.put("first", new Waiter(Places.at(1), Ask.ALL, false, 0, Share.of("a")));

        ShareTurns turns = turns(new LineHead(List.of(one(3, "b")), 1));
        turns.grant("first", Share.of("a"), 0);

        assertThat(turns.tagsAfter().tenant("a").finish()).isEqualTo(UNIT);
    }

    @Test
    void theTimeIsHeldBackByThoseThatWait() {
        tags.setTenant("a", new Finish(2 * UNIT, 0, 0));
        tags.setTenant("b", new Finish(UNIT, 0, 0));
        members.put("first", one(1, "a"));
        elsewhere = elsewhere(one(2, "b"));

        ShareTurns turns = turns(LineHead.EMPTY);
        turns.grant("first", Share.of("a"), 1);

        assertThat(turns.tagsAfter().time()).isEqualTo(UNIT);
    }

    @Test
    void theTimeIsNotHeldBackByCallersOfSeveralSemaphoresNorByThoseThatWereGranted() {
        tags.setTenant("a", new Finish(2 * UNIT, 0, 0));
        members.put("first", one(1, "a"));
        members.put("second", one(2, "b"));

        ShareTurns turns = turns(new LineHead(List.of(several(0, "c")), 1));
        turns.grant("second", Share.of("b"), 1);
        turns.grant("first", Share.of("a"), 1);

        assertThat(turns.tagsAfter().time()).isEqualTo(2 * UNIT);
    }

    @Test
    void recordsThoseThatWaitInTheOrderOfTheirTurnsAfterTheGrants() {
        members.put("first", one(1, "a"));
        Waiter refused = one(4, "b");

        ShareTurns turns =
                turns(new LineHead(List.of(one(2, "a"), several(5, "a"), several(3, "c"), one(6, "c")), 9, 0));
        turns.grant("first", Share.of("a"), 1);
        ShareTags unused = turns.tagsAfter();
        LineHead head = turns.headWith(List.of(refused));

        assertThat(arrivals(head)).containsExactly(3L, 5L, 4L, 6L, 2L);
        assertThat(head.size()).isEqualTo(10);
        assertThat(head.since()).isZero();
        assertThat(head.hidesKeys()).isEqualTo(false);
    }

    @Test
    void recordsTheFirstSixteenAndTheFirstOfFurtherKeys() {
        List<Waiter> waiting = new ArrayList<>();
        for (int round = 0; round < 2; round++) {
            for (int key = 0; key < 20; key++) {
                waiting.add(one(100 * round + key, "t" + key));
            }
        }

        LineHead head = turns(new LineHead(waiting.subList(0, 39), 39)).headWith(waiting.subList(39, 40));

        assertThat(arrivals(head)).containsExactlyElementsOf(numbers(20));
        assertThat(head.size()).isEqualTo(40);
        assertThat(head.hidesKeys()).isEqualTo(false);
        List<Waiter> ofOneKey =
                IntStream.range(0, 30).mapToObj(i -> one(i, "a")).toList();
        assertThat(arrivals(turns(new LineHead(ofOneKey, 30)).headWith(List.of())))
                .containsExactlyElementsOf(numbers(16));
    }

    @Test
    void recordsSixtyFourOfOneSemaphoreAndEightOfSeveralAndTellsThatKeysAreHidden() {
        List<Waiter> waiting =
                IntStream.range(0, 65).mapToObj(i -> one(i, "t" + i)).toList();
        List<Waiter> several =
                IntStream.range(100, 110).mapToObj(i -> several(i, "t0")).toList();
        List<Waiter> all = Stream.concat(waiting.stream(), several.stream()).toList();

        LineHead head = turns(new LineHead(all, 75)).headWith(List.of());

        assertThat(head.first().subList(0, 8)).isEqualTo(several.subList(0, 8));
        assertThat(head.first().subList(8, 72)).isEqualTo(waiting.subList(0, 64));
        assertThat(head.first()).hasSize(72);
        assertThat(head.hidesKeys()).isEqualTo(true);
        assertThat(turns(hiding(one(1, "a"))).headWith(List.of()).hidesKeys())
                .as("as before")
                .isEqualTo(true);
    }

    private ShareTurns turns(LineHead own) {
        return new ShareTurns(tags, (name, share) -> 1, "backup", 4, true, own, members, known, elsewhere, 5);
    }

    private static LineHead hiding(Waiter... first) {
        return new LineHead(Arrays.asList(first), 100, 0, true, true);
    }

    private static WaitersElsewhere elsewhere(Waiter... first) {
        return new WaitersElsewhere(5, List.of(new RecordedHead(1, 7, List.of(first), first.length, LATER)));
    }

    private static List<Long> arrivals(LineHead head) {
        return head.first().stream().map(waiter -> waiter.place().at()).toList();
    }

    private static List<Long> numbers(int count) {
        return IntStream.range(0, count).mapToObj(Long::valueOf).toList();
    }

    private static Waiter one(long arrival, String share) {
        return new Waiter(Places.at(arrival), Ask.of(1), false, 0, Share.of(share));
    }

    private static Waiter several(long arrival, String share) {
        return new Waiter(Places.at(arrival), Ask.of(1), true, 0, Share.of(share));
    }
}
