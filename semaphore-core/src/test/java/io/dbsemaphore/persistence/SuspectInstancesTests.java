package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.InstanceTable.Suspect;
import io.dbsemaphore.persistence.InstanceTable.Suspects;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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

        assertThat(instances.dead(suspects)).containsExactly(1L);
    }

    @Test
    void startANewGracePeriodAfterAHeartbeat() {
        instances.dead(suspects(1, 1));
        now.addAndGet(GRACE.toNanos());

        Set<Long> dead = instances.dead(List.of(suspects(1, HEARTBEAT.plusSeconds(1))));

        assertThat(dead).isEmpty();
    }

    @Test
    void areCachedBeyondTheLimitWhileTheyAreSuspect() {
        instances.dead(suspects(1, 900));
        now.addAndGet(GRACE.toNanos() / 2);
        instances.dead(suspects(2_001, 200)); // of another semaphore
        now.addAndGet(GRACE.toNanos() / 2 + 1);

        Set<Long> dead = instances.dead(suspects(1, 900));

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

        assertThat(instances.cached()).isLessThanOrEqualTo(1_000);
    }

    @Test
    void areDescribedAsLastRead() {
        LocalDateTime later = HEARTBEAT.plusHours(1);
        instances.dead(List.of(suspects(1, HEARTBEAT)));
        now.addAndGet(GRACE.toNanos());

        instances.dead(List.of(new Suspect(1, HEARTBEAT, "orders@host", HEARTBEAT, later)));

        assertThat(instances.find(1))
                .contains(new DeadInstance(1, Optional.of("orders@host"), Optional.of(Duration.ofHours(1))));
        assertThat(instances.find(2)).isEmpty();
    }

    private static Suspect suspects(long id, LocalDateTime expiresAt) {
        return new Suspect(id, expiresAt, "orders@host", HEARTBEAT, HEARTBEAT.plusMinutes(1));
    }

    private static List<Suspect> suspects(long first, int count) {
        return LongStream.range(first, first + count)
                .mapToObj(id -> suspects(id, HEARTBEAT))
                .toList();
    }
}
