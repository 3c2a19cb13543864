package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.RemainingAvailability;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HandoverPausesTests {

    private static final String NAME = "backup";
    private static final Set<String> NAMES = Set.of(NAME);

    private final AtomicLong now = new AtomicLong();
    private final HandoverPauses pauses = new HandoverPauses(new QueueClock(now::incrementAndGet, bound -> 0));

    @Test
    void areNotBegunWithoutGrantsToOtherJvms() {
        batch(100, 101);
        batch(101, 105);
        poll(105);

        assertThat(pauses.begin(NAMES)).isEqualTo(false);
        assertThat(pauses.isTurnover(NAMES)).isEqualTo(false);
        assertThat(pauses.isAnnouncementDue(NAME)).isEqualTo(false);
        assertThat(pauses.nanosToEnd()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void areNotBegunWhenOtherJvmsAreGrantedPermitsButDoNotWait() {
        batch(100, 101);
        batch(104, 105);

        assertThat(pauses.begin(NAMES)).isEqualTo(false);
        assertThat(pauses.isTurnover(NAMES)).isEqualTo(true);
        assertThat(pauses.isAnnouncementDue(NAME))
                .as("that callers of this JVM wait")
                .isEqualTo(true);
    }

    @Test
    void areBegunOncePerAnnouncementAndEnd() {
        batch(100, 101);
        poll(101 + HandoverPauses.ANNOUNCEMENT);

        assertThat(pauses.begin(NAMES)).isEqualTo(true);
        pauses.released(NAMES);
        assertThat(pauses.isPaused(NAME)).isEqualTo(true);
        assertThat(pauses.end()).isEmpty();
        pass(Duration.ofMillis(50));
        assertThat(pauses.end()).containsExactly(NAME);
        assertThat(pauses.begin(NAMES)).isEqualTo(false);
    }

    @Test
    void areNotBegunAgainBeforeAnInterval() {
        batch(100, 101);
        poll(101 + HandoverPauses.ANNOUNCEMENT);
        pauses.begin(NAMES);
        pass(Duration.ofMillis(50));
        poll(101 + 2 * HandoverPauses.ANNOUNCEMENT);

        assertThat(pauses.begin(NAMES)).isEqualTo(false);
        pass(Duration.ofMillis(250));
        assertThat(pauses.begin(NAMES)).isEqualTo(true);
    }

    @Test
    void endAsSoonAsAnotherJvmIsGranted() {
        batch(100, 101);
        poll(101 + HandoverPauses.ANNOUNCEMENT);
        pauses.begin(NAMES);

        poll(101 + HandoverPauses.ANNOUNCEMENT + 1);

        assertThat(pauses.isPaused(NAME)).isEqualTo(false);
        assertThat(pauses.end()).containsExactly(NAME);
    }

    @Test
    void areRequestedOnceAfterGrantsToOtherJvms() {
        batch(100, 101);
        poll(102);
        assertThat(pauses.isAnnouncementDue(NAME)).isEqualTo(true);

        pauses.announced(NAME, 102 + HandoverPauses.ANNOUNCEMENT);
        poll(102 + HandoverPauses.ANNOUNCEMENT);

        assertThat(pauses.isAnnouncementDue(NAME)).isEqualTo(false);
        assertThat(pauses.begin(NAMES)).as("for an announcement of its own").isEqualTo(false);
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private void batch(long fenceBefore, long fence) {
        pauses.batch(NAME, new RemainingAvailability(1, 1, 0, fenceBefore, fence), true);
    }

    private void poll(long fence) {
        pauses.polled(NAME, fence, now.incrementAndGet());
    }
}
