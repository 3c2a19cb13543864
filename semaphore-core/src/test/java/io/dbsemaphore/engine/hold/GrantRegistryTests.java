package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import java.lang.ref.Reference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GrantRegistryTests {

    private final GrantRegistry held = new GrantRegistry();

    @Test
    void forgetsGrantsToWhichNothingRefers() {
        HeldGrant kept = held.register(grant(0, null), System.nanoTime());
        for (int id = 1; id <= 20_000; id++) {
            held.register(grant(id, null), System.nanoTime());
        }

        try {
            Awaitility.await("what was dropped to be forgotten")
                    .atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> {
                        System.gc();
                        held.register(grant(20_001, null), System.nanoTime());
                        assertThat(held.all()).hasSizeLessThan(100);
                    });

            assertThat(held.find("request-0")).containsSame(kept);
            assertThat(held.holds(kept)).isTrue();
        } finally {
            Reference.reachabilityFence(kept);
        }
    }

    @Test
    void shareTheStateAmongRepetitions() {
        HeldGrant first = held.register(grant(1, null), System.nanoTime());
        HeldGrant second = held.register(grant(1, Duration.ofHours(1)), System.nanoTime());

        assertThat(second).isSameAs(first);
        assertThat(held.find("request-1")).containsSame(first);
        held.end(first);
        assertThat(first.isHeld()).isEqualTo(false);
        assertThat(held.find("request-1")).isEmpty();
    }

    @Test
    void keepARenewalThatWasAppliedWhileAnOlderExpiryWasBeingRead() {
        HeldGrant state = held.register(grant(1, Duration.ofSeconds(1)), System.nanoTime());
        long asked = System.nanoTime();
        state.update(grant(1, Duration.ofHours(1)), System.nanoTime());

        HeldGrant read = held.read(grant(1, Duration.ZERO), asked);

        assertThat(read).isSameAs(state);
        assertThat(state.isHeld()).isEqualTo(true);
        assertThat(state.grant().ttl()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void keepAnExtensionThatWasAppliedWhileAnOlderExpiryWasBeingRead() {
        HeldGrant state = held.register(grant(1, Duration.ofSeconds(1)), System.nanoTime());
        long asked = System.nanoTime();
        state.extend(Deadline.in(Duration.ofHours(1)));

        HeldGrant read = held.read(grant(1, Duration.ZERO), asked);

        assertThat(read.isHeld()).isEqualTo(true);
    }

    /** Another instance may have renewed the grant. */
    @Test
    void takeOverAnExpiryThatWasReadAfterTheLastRenewal() {
        HeldGrant state = held.register(grant(1, Duration.ZERO), System.nanoTime());

        HeldGrant read = held.read(grant(1, Duration.ofHours(1)), System.nanoTime());

        assertThat(read).isSameAs(state);
        assertThat(state.isHeld()).isEqualTo(true);
    }

    private static StoredGrant grant(long id, @Nullable Duration ttl) {
        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        return new StoredGrant(
                id,
                "request-" + id,
                "owner",
                null,
                List.of(new StoredPermit(id, 1, "semaphore", 1, id)),
                ttl,
                now,
                ttl == null ? null : now.plus(ttl),
                now);
    }
}
