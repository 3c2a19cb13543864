package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.spi.Liveness;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The maintenance releases what an owner holds that its liveness checks find dead for the grace. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadOwnerIntegrationTests extends SweepFixture {

    private final String owner = "job of " + id;

    @Test
    void releasesWhatAnOwnerHoldsThatWasFoundDeadTwice() {
        acquire(AcquireRequest.of(name).withPermits(name, 2).withoutTtl().withOwner(owner));
        String other = instances.externalId();
        holder.semaphores()
                .acquire(AcquireRequest.of(name).withOwner("other job").withExternalId(other));
        sweeper.judgeBy(says(Liveness.DEAD, Liveness.DEAD));

        assertThat(sweeper.maintenance().releaseOrphans()).isZero();
        assertThat(instances.states(id)).containsExactly("ACQUIRED");
        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);

        assertThat(instances.states(id)).containsExactly("RELEASED");
        assertThat(instances.states(other)).containsExactly("ACQUIRED");
        assertThat(instances.held(name)).isEqualTo(1);
    }

    @Test
    void waitsForTheGraceBetweenTheTwo() {
        Duration grace = Duration.ofMillis(1500);
        Node careful = instances.start(Instances.maintenance(800, Duration.ofHours(24), grace));
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        careful.judgeBy(always(Liveness.DEAD));
        long firstAsked = System.nanoTime();

        await().atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> careful.maintenance().releaseOrphans() == 1);

        assertThat(Duration.ofNanos(System.nanoTime() - firstAsked)).isGreaterThanOrEqualTo(grace);
        assertThat(instances.states(id)).containsExactly("RELEASED");
    }

    @Test
    void beginsAnewWithAnOwnerThatWasFoundAlive() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        sweeper.judgeBy(
                says(Liveness.DEAD, Liveness.ALIVE, Liveness.DEAD, Liveness.UNKNOWN, Liveness.DEAD, Liveness.DEAD));

        assertThat(sweep(5)).containsExactly(0, 0, 0, 0, 0);
        assertThat(sweep(1)).containsExactly(1);
    }

    @Test
    void reclaimsNothingFromAnOwnerOfUnknownLiveness() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        sweeper.judgeBy(always(Liveness.UNKNOWN), always(Liveness.UNKNOWN));

        assertThat(sweep(3)).containsExactly(0, 0, 0);
    }

    @Test
    void usesTheFirstKnownLiveness() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));

        sweeper.judgeBy(always(Liveness.UNKNOWN), always(Liveness.ALIVE), always(Liveness.DEAD));
        assertThat(sweep(3)).containsExactly(0, 0, 0);

        sweeper.judgeBy(always(Liveness.UNKNOWN), always(Liveness.DEAD), always(Liveness.ALIVE));
        assertThat(sweep(2)).containsExactly(0, 1);
    }

    @Test
    void passesOverAJudgeThatThrows() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        OwnerLiveness broken = asked -> {
            throw new IllegalStateException("The scheduler cannot be reached");
        };

        List<String> warnings = LoggedWarnings.of("io.dbsemaphore.engine.DeadOwners", () -> {
            sweeper.judgeBy(broken);
            assertThat(sweep(2)).containsExactly(0, 0);
            sweeper.judgeBy(broken, always(Liveness.DEAD));
            assertThat(sweep(2)).containsExactly(0, 1);
        });
        assertThat(warnings).anySatisfy(warning -> assertThat(warning).contains(owner));
    }

    private List<Integer> sweep(int times) {
        return Stream.generate(sweeper.maintenance()::releaseOrphans)
                .limit(times)
                .toList();
    }

    /** Says this of the owner of these tests, one after the other, and nothing of others. */
    private OwnerLiveness says(Liveness... inOrder) {
        Queue<Liveness> left = new ArrayDeque<>(Arrays.asList(inOrder));
        return asked -> asked.equals(owner) ? left.remove() : Liveness.UNKNOWN;
    }

    private OwnerLiveness always(Liveness liveness) {
        return asked -> asked.equals(owner) ? liveness : Liveness.UNKNOWN;
    }
}
