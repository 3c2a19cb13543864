package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.InstanceRepository.Silent;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Who is dead: whoever was overdue twice, a grace apart, however many there are. */
class SuspectInstancesTests {

    private static final Duration GRACE = Duration.ofSeconds(7);
    private static final LocalDateTime HEARTBEAT = LocalDateTime.of(2040, 2, 29, 12, 0);

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1); // a clock that is about to overflow
    private final SuspectInstances instances = new SuspectInstances(GRACE, now::get);

    @Test
    void areDeadAfterTheGrace() {
        List<Silent> silent = silent(1, 1);

        assertThat(instances.dead(silent)).isEmpty();
        now.addAndGet(GRACE.toNanos() - 1);
        assertThat(instances.dead(silent)).isEmpty();
        now.incrementAndGet();

        assertThat(instances.dead(silent)).containsExactly(1L);
    }

    @Test
    void haveTheirGraceAnewAfterAHeartbeat() {
        instances.dead(silent(1, 1));
        now.addAndGet(GRACE.toNanos());

        Set<Long> dead = instances.dead(List.of(silent(1, HEARTBEAT.plusSeconds(1))));

        assertThat(dead).isEmpty();
    }

    @Test
    void areRememberedAlthoughMoreWereSeenThanAreRemembered() {
        instances.dead(silent(1, 900));
        now.addAndGet(GRACE.toNanos() / 2);
        instances.dead(silent(2_001, 200)); // of another semaphore
        now.addAndGet(GRACE.toNanos() / 2 + 1);

        Set<Long> dead = instances.dead(silent(1, 900));

        assertThat(dead).hasSizeGreaterThanOrEqualTo(800);
    }

    @Test
    void areAllRememberedThatAreSilentAtOnce() {
        instances.dead(silent(1, 3_000));
        now.addAndGet(GRACE.toNanos());

        assertThat(instances.dead(silent(1, 3_000))).hasSize(3_000);
    }

    @Test
    void areForgottenWhenOthersCome() {
        for (int i = 0; i < 10; i++) {
            instances.dead(silent(1 + 500L * i, 500));
        }

        assertThat(instances.remembered()).isLessThanOrEqualTo(1_000);
    }

    @Test
    void areDescribedAsTheyWereReadLast() {
        LocalDateTime later = HEARTBEAT.plusHours(1);
        instances.dead(List.of(silent(1, HEARTBEAT)));
        now.addAndGet(GRACE.toNanos());

        instances.dead(List.of(new Silent(1, HEARTBEAT, "orders@host", HEARTBEAT, later)));

        assertThat(instances.find(1))
                .contains(new DeadInstance(1, Optional.of("orders@host"), Optional.of(Duration.ofHours(1))));
        assertThat(instances.find(2)).isEmpty();
    }

    private static Silent silent(long id, LocalDateTime expiresAt) {
        return new Silent(id, expiresAt, "orders@host", HEARTBEAT, HEARTBEAT.plusMinutes(1));
    }

    private static List<Silent> silent(long first, int count) {
        return LongStream.range(first, first + count)
                .mapToObj(id -> silent(id, HEARTBEAT))
                .toList();
    }
}
