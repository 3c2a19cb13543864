package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.InstanceTable.Suspect;
import io.dbsemaphore.persistence.InstanceTable.Suspects;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** An instance is dead once it was overdue in two reads, a grace period apart, whatever the number of instances. */
class SuspectInstancesTests {

    private static final Duration GRACE = Duration.ofSeconds(7);
    private static final LocalDateTime HEARTBEAT = LocalDateTime.of(2040, 2, 29, 12, 0);

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1); // a clock that is about to overflow
    private final Suspects instances = new Suspects(GRACE, now::get);

    @Test
    void areDeadAfterTheGrace() {
        List<Suspect> suspects = suspects(1, 1);

        assertThat(instances.dead(suspects)).isEmpty();
        now.addAndGet(GRACE.toNanos() - 1);
        assertThat(instances.dead(suspects)).isEmpty();
        now.incrementAndGet();

        assertThat(instances.dead(suspects)).containsOnlyKeys(1L);
    }

    @Test
    void startANewGracePeriodAfterAHeartbeat() {
        instances.dead(suspects(1, 1));
        now.addAndGet(GRACE.toNanos());

        Map<Long, DeadInstance> dead = instances.dead(List.of(suspects(1, HEARTBEAT.plusSeconds(1))));

        assertThat(dead).isEmpty();
    }

    @Test
    void areCachedBeyondTheLimitWhileTheyAreSuspect() {
        instances.dead(suspects(1, 900));
        now.addAndGet(GRACE.toNanos() / 2);
        instances.dead(suspects(2_001, 200)); // of another semaphore
        now.addAndGet(GRACE.toNanos() / 2 + 1);

        Map<Long, DeadInstance> dead = instances.dead(suspects(1, 900));

        assertThat(dead).hasSizeGreaterThanOrEqualTo(800);
    }

    @Test
    void areAllCachedThatAreSuspectAtOnce() {
        instances.dead(suspects(1, 3_000));
        now.addAndGet(GRACE.toNanos());

        assertThat(instances.dead(suspects(1, 3_000))).hasSize(3_000);
    }

    @Test
    void areEvictedWhenOthersAreSeen() {
        for (int i = 0; i < 10; i++) {
            instances.dead(suspects(1 + 500L * i, 500));
        }
        now.addAndGet(GRACE.toNanos());

        assertThat(instances.dead(suspects(1, 500)))
                .as("seen for the first time")
                .isEmpty();
    }

    @Test
    void areDescribedAsLastRead() {
        instances.dead(List.of(suspects(1, HEARTBEAT)));
        now.addAndGet(GRACE.toNanos());

        DeadInstance asRead = new DeadInstance(1, Optional.of("orders@host"), Optional.of(Duration.ofHours(1)));

        assertThat(instances.dead(List.of(new Suspect(asRead, HEARTBEAT)))).containsOnly(Map.entry(1L, asRead));
    }

    private static Suspect suspects(long id, LocalDateTime expiresAt) {
        return new Suspect(
                new DeadInstance(id, Optional.of("orders@host"), Optional.of(Duration.ofMinutes(1))), expiresAt);
    }

    private static List<Suspect> suspects(long first, int count) {
        return LongStream.range(first, first + count)
                .mapToObj(id -> suspects(id, HEARTBEAT))
                .toList();
    }
}
