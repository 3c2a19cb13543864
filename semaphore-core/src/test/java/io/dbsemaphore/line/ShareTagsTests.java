package io.dbsemaphore.line;

import static io.dbsemaphore.line.ShareTags.UNIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.ShareTags.Finish;
import io.dbsemaphore.line.ShareTags.Known;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShareTagsTests {

    private static final Share ACME = Share.of("acme");
    private static final Share BATCH = Share.of("acme/batch");
    private static final Share MAIL = Share.of("acme/mail");
    private static final Share OTHER = Share.of("other");

    private final ShareTags tags = new ShareTags();

    @Test
    void costsOfAGrantAreProportionalToItsPermitsAndExactForSmallWeights() {
        assertThat(ShareTags.cost(3, 1)).isEqualTo(3 * UNIT);
        assertThat(ShareTags.cost(3, 1_000)).isEqualTo(3 * UNIT / 1_000);
        assertThat(IntStream.rangeClosed(1, 16))
                .allSatisfy(
                        weight -> assertThat(weight * ShareTags.cost(1, weight)).isEqualTo(UNIT));
        assertThat(ShareTags.cost(Integer.MAX_VALUE, 1)).isEqualTo(UNIT * Integer.MAX_VALUE);
    }

    @Test
    void theTagIsTheFinishAndAtLeastTheTime() {
        tags.setTime(5 * UNIT);
        assertThat(tags.tenantTag(OTHER, 1, 4)).as("unknown").isEqualTo(5 * UNIT);

        tags.setTenant("acme", new Finish(7 * UNIT, 3 * UNIT, 2 * UNIT));
        tags.setKey(BATCH, 4 * UNIT);
        tags.setKey(MAIL, UNIT);

        assertThat(tags.tenantTag(BATCH, 1, 4)).as("tenant").isEqualTo(7 * UNIT);
        assertThat(tags.keyTag(ACME, 1, 4)).as("without a key").isEqualTo(3 * UNIT);
        assertThat(tags.keyTag(BATCH, 1, 4)).as("ahead").isEqualTo(4 * UNIT);
        assertThat(tags.keyTag(MAIL, 1, 4)).as("not ahead").isEqualTo(2 * UNIT);
    }

    /** Also where the finish was wrong, or was reached with a smaller weight. */
    @Test
    void isAheadOfTheTimeByTheCapacityAtMost() {
        tags.setTime(5 * UNIT);
        tags.setTenant("acme", new Finish(900 * UNIT, 900 * UNIT, 2 * UNIT));

        assertThat(tags.tenantTag(ACME, 1, 3)).isEqualTo(8 * UNIT);
        assertThat(tags.tenantTag(ACME, 1_000, 3)).as("another weight").isEqualTo(5 * UNIT + 3 * UNIT / 1_000);
        assertThat(tags.keyTag(ACME, 1, 3)).as("key").isEqualTo(5 * UNIT);
        assertThat(tags.keyTag(ACME, 6, 3)).as("key of another weight").isEqualTo(2 * UNIT + UNIT / 2);

        tags.grant(ACME, 1, 1_000, 6, 3, false);
        assertThat(tags.tenant("acme").finish()).as("counts from there").isEqualTo(5 * UNIT + 4 * UNIT / 1_000);
    }

    @Test
    void aGrantAdvancesTheFinishesOfTheTenantAndOfTheKey() {
        tags.setTime(5 * UNIT);
        tags.setTenant("acme", new Finish(6 * UNIT, 0, 2 * UNIT));
        tags.setKey(BATCH, 3 * UNIT);

        tags.grant(BATCH, 2, 2, 2, 4, false);
        tags.grant(ACME, 1, 2, 1, 4, false);

        assertThat(tags.key(BATCH)).isEqualTo(4 * UNIT);
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(7 * UNIT + UNIT / 2, 3 * UNIT, 2 * UNIT));
        assertThat(tags.time()).as("before all are decided").isEqualTo(5 * UNIT);
        assertThat(tags.changed()).containsExactlyInAnyOrder(ACME, BATCH);
    }

    @Test
    void timesReachTheLargestTagThatWasGranted() {
        tags.setTenant("acme", new Finish(2 * UNIT, 0, UNIT));
        tags.setKey(BATCH, 3 * UNIT);

        tags.grant(BATCH, 1, 1, 1, 4, false);
        tags.grant(OTHER, 1, 1, 1, 4, false);
        tags.reach(4 * UNIT, Map.of("acme", 3 * UNIT, "other", 0L));

        assertThat(tags.time()).isEqualTo(2 * UNIT);
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(3 * UNIT, 0, 3 * UNIT));
        assertThat(tags.tenant("other")).isEqualTo(new Finish(UNIT, UNIT, 0));
    }

    /** Its caller waits for more permits, which are withheld for it; the time must not pass it. */
    @Test
    void aSmallerTagThatWaitsHoldsTheTimesBack() {
        tags.setTime(UNIT);
        tags.setTenant("acme", new Finish(4 * UNIT, 0, UNIT));
        tags.setKey(BATCH, 4 * UNIT);

        tags.grant(BATCH, 1, 1, 1, 4, false);
        tags.reach(2 * UNIT, Map.of("acme", 3 * UNIT));

        assertThat(tags.time()).isEqualTo(2 * UNIT);
        assertThat(tags.tenant("acme").keysTime()).isEqualTo(3 * UNIT);
    }

    @Test
    void timesDoNotGoBack() {
        tags.setTime(5 * UNIT);
        tags.setTenant("acme", new Finish(0, 0, 6 * UNIT));

        tags.grant(BATCH, 1, 1, 1, 4, false);
        tags.reach(UNIT, Map.of("acme", UNIT));

        assertThat(tags.time()).isEqualTo(5 * UNIT);
        assertThat(tags.tenant("acme").keysTime()).isEqualTo(6 * UNIT);
    }

    @Test
    void timesStayWithoutAGrant() {
        tags.setTime(UNIT);
        tags.setTenant("acme", new Finish(4 * UNIT, 0, UNIT));

        tags.reach(4 * UNIT, Map.of("acme", 4 * UNIT));

        assertThat(tags.time()).isEqualTo(UNIT);
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(4 * UNIT, 0, UNIT));
        assertThat(tags.changed()).isEmpty();
    }

    @Test
    void aKeyThatWaitsAloneIsCountedForItsTenantOnly() {
        tags.grant(BATCH, 1, 1, 1, 4, true);
        tags.reach(Long.MAX_VALUE, Map.of());

        assertThat(tags.tenant("acme")).isEqualTo(new Finish(UNIT, 0, 0));
        assertThat(tags.key(BATCH)).isZero();
        assertThat(tags.changed()).containsExactly(ACME);
    }

    @Test
    void aKeyThatWaitsAloneIsCountedWhileAKeyIsAhead() {
        tags.setTenant("acme", new Finish(0, 0, UNIT));
        tags.setKey(MAIL, 2 * UNIT);
        tags.setKey(Share.of("other/mail"), 9 * UNIT);
        assertThat(tags.isAnyKeyAhead("acme")).as("a key").isEqualTo(true);

        tags.grant(BATCH, 2, 1, 1, 4, true);
        tags.reach(Long.MAX_VALUE, Map.of());
        assertThat(tags.key(BATCH)).isEqualTo(3 * UNIT);

        tags.setTenant("acme", new Finish(0, 0, 3 * UNIT));
        assertThat(tags.isAnyKeyAhead("acme")).as("none").isEqualTo(false);
        tags.setTenant("acme", new Finish(0, 4 * UNIT, 3 * UNIT));
        assertThat(tags.isAnyKeyAhead("acme")).as("callers without a key").isEqualTo(true);
    }

    /** 4 permits for weight 1 are as much as 4,000 for weight 1,000. */
    @Test
    void aChangedWeightCountsForCallersThatAlreadyWait() {
        grantFour();
        ShareTags later = new ShareTags();
        later.learn(tags);

        assertThat(later.tenantTag(ACME, 1, 4)).isEqualTo(4 * UNIT);
        assertThat(later.tenantTag(ACME, 1_000, 4)).isEqualTo(4 * UNIT / 1_000);
    }

    /** The time advances after all of them only. */
    @Test
    void allGrantsOfADecisionCountInFull() {
        tags.setTenant("acme", new Finish(3 * UNIT, 2 * UNIT, 0));

        grantFour();

        assertThat(tags.tenant("acme")).isEqualTo(new Finish(7 * UNIT, 6 * UNIT, 0));
        tags.reach(Long.MAX_VALUE, Map.of());
        assertThat(tags.time()).isEqualTo(6 * UNIT);
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(7 * UNIT, 6 * UNIT, 5 * UNIT));
    }

    private void grantFour() {
        IntStream.range(0, 4).forEach(i -> tags.grant(ACME, 1, 1, 1, 4, true));
    }

    @Test
    void wearsOutLongBeforeAnOverflow() {
        assertThat(tags.isWornOut()).isEqualTo(false);
        tags.setTime(1L << 60);
        assertThat(tags.isWornOut()).as("the largest time").isEqualTo(false);
        assertThat(tags.tenantTag(ACME, 1, Integer.MAX_VALUE)).isEqualTo(1L << 60);
        tags.grant(ACME, Integer.MAX_VALUE, 1, 1, Integer.MAX_VALUE, false);
        assertThat(tags.tenantTag(ACME, 1, Integer.MAX_VALUE)).isEqualTo((1L << 60) + UNIT * Integer.MAX_VALUE);
        tags.setTime((1L << 60) + 1);
        assertThat(tags.isWornOut()).as("beyond").isEqualTo(true);
        tags.setTime(-1);
        assertThat(tags.isWornOut()).as("negative").isEqualTo(true);
    }

    @Test
    void theTimeOfATenantsKeysBeginsAgainBeforeAnOverflow() {
        tags.setTenant("acme", new Finish(3, 2, (1L << 60) + 1));
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(3, 2, 0));
        tags.setTenant("acme", new Finish(3, 2, -1));
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(3, 2, 0));
        tags.setTenant("acme", new Finish(3, 2, 1L << 60));
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(3, 2, 1L << 60));
    }

    @Test
    void areAsKnownUntilAFinishHasGrown() {
        tags.setTime(2 * UNIT);
        tags.setTenant("acme", new Finish(3 * UNIT, 0, UNIT));
        tags.setKey(BATCH, 2 * UNIT);
        Known known = new Known(tags.tenantTag(BATCH, 1, 4), tags.keyTag(BATCH, 1, 4));
        assertThat(isAsKnown(known)).as("unchanged").isEqualTo(true);

        tags.setTime(4 * UNIT);
        tags.setTenant("acme", new Finish(3 * UNIT, 0, 3 * UNIT));
        assertThat(isAsKnown(known)).as("passed by the times").isEqualTo(true);

        tags.setTenant("acme", new Finish(4 * UNIT + 1, 0, 3 * UNIT));
        assertThat(isAsKnown(known)).as("tenant").isEqualTo(false);

        tags.setTenant("acme", new Finish(4 * UNIT, 0, 3 * UNIT));
        tags.setKey(BATCH, 3 * UNIT + 1);
        assertThat(isAsKnown(known)).as("key").isEqualTo(false);

        assertThat(isAsKnown(new Known(4 * UNIT, 4 * UNIT))).as("smaller").isEqualTo(true);
    }

    private boolean isAsKnown(Known known) {
        return tags.isAsKnown(BATCH, known, 1, 1, 4);
    }

    @Test
    void learnWhatOthersKnow() {
        tags.setTime(9 * UNIT);
        tags.setTenant("acme", new Finish(1, 2, 3));
        tags.setKey(BATCH, 4);
        tags.setTenant("other", new Finish(5, 0, 0));
        ShareTags read = new ShareTags();
        assertThat(read.setTime(10 * UNIT)).as("goes back").isEqualTo(false);
        read.know(BATCH);
        read.setKey(MAIL, 6);

        tags.learn(read);

        assertThat(tags.time()).isEqualTo(10 * UNIT);
        assertThat(tags.tenant("acme")).as("has no row").isEqualTo(Finish.NONE);
        assertThat(tags.key(BATCH)).as("has no row").isZero();
        assertThat(tags.key(MAIL)).isEqualTo(6);
        assertThat(tags.tenant("other").finish()).as("was not read").isEqualTo(5);
        assertThat(tags.known()).containsExactlyInAnyOrder(ACME, BATCH, MAIL, OTHER);
        assertThat(tags.setTime(9 * UNIT)).as("goes back").isEqualTo(true);
    }

    @Test
    void forgetTheFinishesOfThoseWhoLeft() {
        tags.setTime(9 * UNIT);
        tags.setTenant("acme", new Finish(1, 2, 3));
        tags.setTenant("other", new Finish(5, 0, 0));
        tags.setKey(BATCH, 4);
        tags.setKey(MAIL, 4);

        tags.retain(Set.of(MAIL));
        assertThat(tags.known()).containsExactlyInAnyOrder(ACME, MAIL);
        assertThat(tags.time()).isEqualTo(9 * UNIT);

        tags.clear();
        assertThat(tags.known()).isEmpty();
        assertThat(tags.time()).isZero();
    }

    @Test
    void knowingDoesNotChangeWhatWasRead() {
        tags.setTenant("acme", new Finish(1, 2, 3));
        tags.setKey(BATCH, 4);

        tags.know(BATCH);
        tags.know(ACME);

        assertThat(tags.key(BATCH)).isEqualTo(4);
        assertThat(tags.tenant("acme")).isEqualTo(new Finish(1, 2, 3));
    }
}
