package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.RemainingAvailability;
import java.time.Duration;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class HandoverPausesTests {

    private static final String NAME = "backup";
    private static final Set<String> NAMES = Set.of(NAME);

    private final HandoverPauses pauses = new HandoverPauses(QueueClock.SYSTEM);

    @Test
    void areNotMadeWhileNobodyElseIsAtTheSemaphore() {
        batch(100, 101);
        batch(101, 105);
        poll(105);

        assertThat(pauses.begin(NAMES)).isEqualTo(false);
        assertThat(pauses.isTurnover(NAMES)).isEqualTo(false);
        assertThat(pauses.isToBeAnnounced(NAME)).isEqualTo(false);
        assertThat(pauses.nanosToEnd()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void areNotMadeWhereOthersAreGrantedPermitsButDoNotWait() {
        batch(100, 101);
        batch(104, 105);

        assertThat(pauses.begin(NAMES)).isEqualTo(false);
        assertThat(pauses.isTurnover(NAMES)).isEqualTo(true);
        assertThat(pauses.isToBeAnnounced(NAME)).as("that it waits itself").isEqualTo(true);
    }

    @Test
    void areMadeOnceForAnAnnouncementAndEndByThemselves() {
        batch(100, 101);
        poll(101 + HandoverPauses.ANNOUNCEMENT);

        assertThat(pauses.begin(NAMES)).isEqualTo(true);
        pauses.released(NAMES);
        assertThat(pauses.isPaused(NAME)).isEqualTo(true);
        assertThat(pauses.end()).isEmpty();
        Awaitility.await().atMost(Duration.ofSeconds(2)).until(() -> !pauses.isPaused(NAME));
        assertThat(pauses.end()).containsExactly(NAME);
        assertThat(pauses.begin(NAMES)).isEqualTo(false);
    }

    @Test
    void areNotMadeAgainSoon() {
        batch(100, 101);
        poll(101 + HandoverPauses.ANNOUNCEMENT);
        pauses.begin(NAMES);
        Awaitility.await().until(() -> !pauses.isPaused(NAME));
        poll(101 + 2 * HandoverPauses.ANNOUNCEMENT);

        assertThat(pauses.begin(NAMES)).isEqualTo(false);
        Awaitility.await().atMost(Duration.ofSeconds(2)).until(() -> pauses.begin(NAMES));
    }

    @Test
    void areOverAsSoonAsAnotherIsGrantedWhatWasLeft() {
        batch(100, 101);
        poll(101 + HandoverPauses.ANNOUNCEMENT);
        pauses.begin(NAMES);

        poll(101 + HandoverPauses.ANNOUNCEMENT + 1);

        assertThat(pauses.isPaused(NAME)).isEqualTo(false);
        assertThat(pauses.end()).containsExactly(NAME);
    }

    @Test
    void areAnnouncedOnceForWhatOthersWereGranted() {
        batch(100, 101);
        poll(102);
        assertThat(pauses.isToBeAnnounced(NAME)).isEqualTo(true);

        pauses.announced(NAME, 102 + HandoverPauses.ANNOUNCEMENT);
        poll(102 + HandoverPauses.ANNOUNCEMENT);

        assertThat(pauses.isToBeAnnounced(NAME)).isEqualTo(false);
        assertThat(pauses.begin(NAMES)).as("for its own announcement").isEqualTo(false);
    }

    private void batch(long fenceBefore, long fence) {
        pauses.batch(NAME, new RemainingAvailability(1, 1, 0, fenceBefore, fence), true);
    }

    private void poll(long fence) {
        pauses.polled(NAME, fence, System.nanoTime());
    }
}
