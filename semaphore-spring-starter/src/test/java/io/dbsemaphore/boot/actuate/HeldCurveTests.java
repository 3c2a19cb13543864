package io.dbsemaphore.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.boot.actuate.HeldCurve.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HeldCurveTests {

    private static final Instant FROM = Instant.parse("2026-01-31T12:00:00Z");
    private static final Instant TO = FROM.plusSeconds(3600);

    @Test
    void countsWhatWasHeldBeforeThePeriodAndWhatIsReleasedInIt() {
        HeldCurve curve = curve(use(2, -100, 600), use(1, 300, 900), use(3, 3000, null));

        assertThat(curve.steps()).containsExactly(step(0, 2), step(300, 3), step(600, 1), step(900, 0), step(3000, 3));
        assertThat(curve.since()).isEqualTo(FROM);
    }

    /** Each step lasts 15 seconds or a multiple of that, in an hour. */
    @Test
    void hasTheMostThatWereHeldAtOnceInEachStep() {
        HeldCurve curve = curve(use(1, 301, 302), use(1, 302, 303), use(1, 304, 305), use(1, 304, 306));

        assertThat(curve.steps()).containsExactly(step(0, 0), step(300, 2), step(315, 0));
    }

    @Test
    void staysTheSameWhileThePeriodMovesOn() {
        List<PermitUse> uses = List.of(use(1, 1000, 1100), use(1, 1050, 1200));

        List<Step> later = new HeldCurve(uses, true, capacity(3), FROM.plusSeconds(7), TO.plusSeconds(7)).steps();

        assertThat(later.subList(1, later.size()))
                .isEqualTo(curve(uses.get(0), uses.get(1)).steps().subList(1, 5))
                .hasSize(4);
    }

    @Test
    void hasFewStepsHoweverManyRequestsThereAre() {
        Random random = new Random(1);
        PermitUse[] uses = IntStream.generate(() -> random.nextInt(3600))
                .limit(10_000)
                .mapToObj(second -> use(1, second, second + random.nextInt(1, 60)))
                .toArray(PermitUse[]::new);

        assertThat(curve(uses).steps()).hasSizeBetween(200, 241);
    }

    /** A request that was released before those that are known began is missing, so the curve would be too low there. */
    @Test
    void beginsWithTheOldestReleasedRequestIfThereAreMore() {
        HeldCurve curve = new HeldCurve(
                List.of(use(1, 2400, 2500), use(1, 1800, 2000), use(2, 60, null)), false, capacity(3), FROM, TO);

        assertThat(curve.since()).isEqualTo(FROM.plusSeconds(1800));
        assertThat(curve.steps().get(0)).isEqualTo(step(1800, 3));
    }

    @Test
    void isUnknownIfMoreAreHeldThanAreRead() {
        assertThat(new HeldCurve(List.of(use(1, 60, null)), false, capacity(3), FROM, TO).since())
                .isEqualTo(TO);
    }

    @Test
    void isFullSinceTheLastPermitWasTaken() {
        assertThat(curve(2, use(1, 60, null), use(1, 900, null)).fullSince()).contains(FROM.plusSeconds(900));
        assertThat(curve(2, use(1, 60, null), use(1, 900, 3599)).fullSince()).isEmpty();
        assertThat(curve(2, use(2, -60, null)).fullSince()).contains(FROM);
    }

    /** A permit that is released goes to the next caller some milliseconds later. */
    @Test
    void staysFullWhileAPermitChangesHands() {
        PermitUse next = new PermitUse(
                "next",
                "a",
                Optional.empty(),
                1,
                1,
                FROM.plusSeconds(1200).plusMillis(400),
                Optional.empty(),
                Optional.empty());

        assertThat(curve(1, use(1, 900, 1200), next).fullSince()).contains(FROM.plusSeconds(900));
        assertThat(curve(1, use(1, 900, 1198), next).fullSince()).contains(next.acquiredAt());
    }

    @Test
    void followsTheCapacity() {
        NavigableMap<Instant, Integer> capacities = HeldCurve.capacities(
                List.of(change(2, 2, 1700, true), change(4, 2, 1600, false), change(1, 4, 600, false)), 2);
        HeldCurve curve = new HeldCurve(List.of(use(2, 60, null)), true, capacities, FROM, TO);

        assertThat(capacities)
                .isEqualTo(new TreeMap<>(Map.of(Instant.MIN, 1, FROM.plusSeconds(600), 4, FROM.plusSeconds(1600), 2)));
        assertThat(curve.steps())
                .containsExactly(
                        new Step(FROM, 0, 1),
                        new Step(FROM.plusSeconds(60), 2, 1),
                        new Step(FROM.plusSeconds(600), 2, 4),
                        new Step(FROM.plusSeconds(1600), 2, 2));
        assertThat(curve.fullSince()).contains(FROM.plusSeconds(1600));
    }

    private static HeldCurve curve(PermitUse... uses) {
        return curve(3, uses);
    }

    private static HeldCurve curve(int capacity, PermitUse... uses) {
        return new HeldCurve(List.of(uses), true, capacity(capacity), FROM, TO);
    }

    private static NavigableMap<Instant, Integer> capacity(int capacity) {
        return HeldCurve.capacities(List.of(), capacity);
    }

    private static Step step(int second, long held) {
        return new Step(FROM.plusSeconds(second), held, 3);
    }

    private static PermitUse use(int permits, int acquired, Integer released) {
        return new PermitUse(
                "id",
                "owner",
                Optional.empty(),
                permits,
                1,
                FROM.plusSeconds(acquired),
                Optional.ofNullable(released).map(FROM::plusSeconds),
                Optional.of(TO.plus(Duration.ofHours(1))));
    }

    private static CapacityChange change(int from, int to, int second, boolean forced) {
        return new CapacityChange(
                "backup",
                from,
                to,
                "ada",
                "noon",
                FROM.plusSeconds(second),
                forced ? Optional.of(new CapacityChange.ForcedRelease("id", "a", 1)) : Optional.empty());
    }
}
