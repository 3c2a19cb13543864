package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitersElsewhereTests {

    private static final LocalDateTime NOW = LocalDateTime.of(2026, 1, 1, 0, 0);
    private static final long HERE = 5;

    private static final Waiter EARLY = new Waiter(Places.at(100), Ask.of(2), false);
    private static final Waiter LATE = new Waiter(Places.at(300), Ask.of(3), false);
    private static final Waiter OF_SEVERAL = new Waiter(Places.at(100), Ask.of(4), true);

    @Test
    void withholdForThoseThatCameBefore() {
        WaitersElsewhere waiters = of(queue(7, EARLY, LATE));
        assertThat(waiters.isEmpty()).isFalse();
        assertThat(waiters.withheldAhead(Places.at(99), 10, true)).isZero();
        assertThat(waiters.withheldAhead(Places.at(200), 10, true)).isEqualTo(2);
        assertThat(waiters.withheldAhead(Places.at(400), 10, true)).isEqualTo(5);
        assertThat(waiters.withheldAhead(Places.at(400), 2, true))
                .as("more than the capacity")
                .isEqualTo(2);
    }

    @Test
    void areOrderedByInstanceIfTheyCameAtTheSameTime() {
        assertThat(of(queue(4, EARLY)).withheldAhead(Places.at(100), 10, true)).isEqualTo(2);
        assertThat(of(queue(6, EARLY)).withheldAhead(Places.at(100), 10, true)).isZero();
        assertThat(of(queue(4, EARLY)).instancesAhead(Places.at(100), true)).isEqualTo(1);
        assertThat(of(queue(6, EARLY)).instancesAhead(Places.at(100), true)).isZero();
    }

    @Test
    void addUpOverInstances() {
        WaitersElsewhere waiters = of(queue(6, EARLY), queue(7, LATE));
        assertThat(waiters.withheldAhead(Places.at(400), 10, true)).isEqualTo(5);
        assertThat(waiters.instancesAhead(Places.at(400), true)).isEqualTo(2);
        assertThat(waiters.instancesAhead(Places.at(200), true)).isEqualTo(1);
        assertThat(waiters.instancesAhead(Places.at(50), true)).isZero();
    }

    @Test
    void countIfTheyCameLater() {
        Waiter ahead = new Waiter(Places.at(150), Ask.of(1), false, 200);
        WaitersElsewhere waiters = of(queue(6, EARLY, ahead), queue(7, LATE));
        assertThat(waiters.callersSince(99)).isEqualTo(3);
        assertThat(waiters.callersSince(200))
                .as("one with a head start came at 350, and stands before")
                .isEqualTo(2);
        assertThat(waiters.callersSince(400)).isZero();
        assertThat(of(queue(6, EARLY)).callersSince(100)).isEqualTo(1);
        assertThat(of(queue(4, EARLY)).callersSince(100))
                .as("at the same time, the smaller instance is first")
                .isZero();
    }

    @Test
    void ofUnknownPlacesCountIfAKnownOneOfTheirInstanceDoes() {
        RecordedHead many = new RecordedHead(1, 7, List.of(EARLY), 100, NOW.plusSeconds(1));
        assertThat(of(many).callersSince(99)).isEqualTo(100);
        assertThat(of(many).callersSince(101)).isZero();
    }

    @Test
    void mayBeMoreThanAreKnownIfAllThatAreKnownAreAhead() {
        RecordedHead many = new RecordedHead(1, 7, List.of(EARLY), 2, NOW.plusSeconds(1));
        assertThat(of(many).mayMoreBeAhead(Places.at(101))).isEqualTo(true);
        assertThat(of(many).mayMoreBeAhead(Places.at(99))).isEqualTo(false);
        assertThat(of(queue(7, EARLY)).mayMoreBeAhead(Places.at(101))).isEqualTo(false);
    }

    @Test
    void ofSeveralSemaphoresCountWhileTheWindowIsOpen() {
        WaitersElsewhere waiters = of(queue(6, OF_SEVERAL));
        assertThat(waiters.withheldAhead(Places.at(200), 10, true)).isEqualTo(4);
        assertThat(waiters.withheldAhead(Places.at(200), 10, false)).isZero();
        assertThat(waiters.instancesAhead(Places.at(200), true)).isEqualTo(1);
        assertThat(waiters.instancesAhead(Places.at(200), false)).isZero();
        assertThat(of(queue(6, EARLY)).instancesAhead(Places.at(200), false)).isEqualTo(1);
    }

    @Test
    void ofThisInstanceOrOutOfDateDoNotCount() {
        assertThat(of(queue(HERE, EARLY))).isSameAs(WaitersElsewhere.NONE);
        assertThat(of(queue(7))).isSameAs(WaitersElsewhere.NONE);
        assertThat(of(until(NOW))).isSameAs(WaitersElsewhere.NONE);
        assertThat(of(until(NOW.plusSeconds(3))))
                .as("for longer than is ever written: the clock was set back")
                .isSameAs(WaitersElsewhere.NONE);
        assertThat(of(until(NOW.plusSeconds(2))).isEmpty()).isFalse();
        assertThat(WaitersElsewhere.NONE.isEmpty()).isTrue();
    }

    @Test
    void areValidForATime() {
        RecordedHead queue = until(NOW.plusSeconds(2));
        assertThat(queue.isValidFor(Duration.ofSeconds(2), NOW)).isTrue();
        assertThat(queue.isValidFor(Duration.ofMillis(2001), NOW)).isFalse();
        assertThat(queue.isValidFor(Duration.ZERO, NOW.plusSeconds(2))).isFalse();
    }

    @Test
    void sayWhoTheyAre() {
        assertThat(of(queue(7, EARLY)).toString()).contains("instance=7", "at=100");
    }

    private static WaitersElsewhere of(RecordedHead... queues) {
        return WaitersElsewhere.of(List.of(queues), HERE, NOW);
    }

    private static RecordedHead queue(long instance, Waiter... waiters) {
        return new RecordedHead(1, instance, List.of(waiters), waiters.length, NOW.plusSeconds(1));
    }

    private static RecordedHead until(LocalDateTime expiry) {
        return new RecordedHead(1, 7, List.of(EARLY), 1, expiry);
    }
}
