package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An instance that remembers semaphores which another one has deleted and created again acquires from the new ones. */
@Promise
class DeletedSemaphoreIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private static final Duration LONG = Duration.ofSeconds(50);

    private final Node remembering = cluster.node(0);
    private final Node deleting = cluster.node(1);

    @Test
    void allOfAnAcquireAreLookedUpAgain() {
        List<String> names = cluster.semaphores(8, 1);
        acquireAndRelease(names);
        names.forEach(this::createAgain);

        try (PermitGrant grant = remembering
                .semaphores()
                .acquire(AcquireRequest.of(names.toArray(String[]::new)).withWaitTime(LONG))) {
            assertThat(grant.permits()).containsOnlyKeys(names);
        }
    }

    @Test
    void thoseOfManyAcquiresAreLookedUpAgain() {
        List<String> names = cluster.semaphores(16, 1);
        acquireAndRelease(names);
        names.stream().limit(8).forEach(this::createAgain);

        List<Long> tokens = Concurrently.call(
                16,
                Duration.ofSeconds(60),
                index -> remembering
                        .semaphores()
                        .acquire(AcquireRequest.of(names.get(index)).withWaitTime(LONG))
                        .fencingToken());

        assertThat(tokens).allMatch(token -> token > 0);
    }

    /** Few batches may wait for a row; the others cannot tell a deleted row from a locked one. */
    @Test
    void oneIsLookedUpAgainWhileAllThatMayWaitForARowDoSo() throws Exception {
        List<String> names = cluster.semaphores(2, 1);
        String locked = names.get(0);
        String deleted = names.get(1);
        acquireAndRelease(names);
        createAgain(deleted);
        CompletableFuture<PermitGrant> waiting;
        try (RowLock lock = cluster.lock(locked)) {
            remembering.gate().clear();
            waiting = remembering
                    .semaphores()
                    .acquireAsync(AcquireRequest.of(locked).withWaitTime(LONG));
            Awaitility.await().until(() -> remembering.gate().count("from semaphore ") > 0);

            assertThat(remembering
                            .semaphores()
                            .acquire(AcquireRequest.of(deleted))
                            .release())
                    .isEqualTo(ReleaseOutcome.RELEASED);
        }
        assertThat(waiting.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** A caller finds the semaphore or not, and a permit of one that is deleted is never granted. */
    @Slow
    @Test
    void acquiresSucceedOrReportThatItIsMissingWhileItIsDeletedAgainAndAgain() {
        String name = cluster.semaphore(1);
        PeakCounter inside = new PeakCounter();
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger notThere = new AtomicInteger();

        Concurrently.run(6, Duration.ofSeconds(60), thread -> {
            for (int round = 0; round < 25; round++) {
                if (thread == 0) {
                    createAgainUnlessHeld(name);
                } else {
                    try (PermitGrant grant = cluster.node(thread)
                            .semaphores()
                            .acquire(AcquireRequest.of(name).withWaitTime(LONG))) {
                        inside.enter();
                        granted.incrementAndGet();
                        inside.leave();
                    } catch (SemaphoreNotFoundException deleted) {
                        notThere.incrementAndGet();
                    }
                }
            }
        });

        assertThat(inside.peak()).isEqualTo(1);
        assertThat(granted.get() + notThere.get()).isEqualTo(125);
        assertThat(granted).hasPositiveValue();
    }

    @Test
    void acquiresSucceedWhereAPatternCreatesItAgain() {
        String name = "pattern:deleted";
        PeakCounter inside = new PeakCounter();
        try (Node creating = Node.on(cluster.schema(), TestSettings.defaults().withPattern("pattern:*", 1))) {
            creating.semaphores().acquire(AcquireRequest.of(name)).release();

            Concurrently.run(6, Duration.ofSeconds(60), thread -> {
                for (int round = 0; round < 15; round++) {
                    if (thread < 3) {
                        deleteUnlessHeld(name);
                    } else {
                        try (PermitGrant grant = acquire(creating, name, thread % 2 == 0)) {
                            inside.enter();
                            inside.leave();
                        }
                    }
                }
            });
        }

        assertThat(inside.peak()).isEqualTo(1);
    }

    private static PermitGrant acquire(Node node, String name, boolean async) {
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(LONG);
        return async
                ? node.semaphores().acquireAsync(request).join()
                : node.semaphores().acquire(request);
    }

    private void acquireAndRelease(List<String> names) {
        remembering
                .semaphores()
                .acquire(AcquireRequest.of(names.toArray(String[]::new)))
                .release();
    }

    private void createAgain(String name) {
        deleting.admin().delete(name);
        deleting.admin().create(name, 1);
    }

    private void createAgainUnlessHeld(String name) {
        deleteUnlessHeld(name);
        deleting.admin().create(name, 1);
    }

    private void deleteUnlessHeld(String name) {
        try {
            deleting.admin().delete(name);
        } catch (SemaphoreInUseException held) {
            // deleted in another round
        }
    }
}
