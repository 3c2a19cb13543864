package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The tokens of a semaphore grow from grant to grant, for all callers, and whatever happens to the semaphore. */
@Promise
class FencingTokenIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    @Test
    void growFromGrantToGrantOverTheNodes() {
        String name = cluster.semaphore(20);
        List<Long> tokens = new ArrayList<>();

        for (int i = 0; i < 20; i++) {
            tokens.add(cluster.node(i)
                    .semaphores()
                    .acquire(AcquireRequest.of(name))
                    .fencingToken());
        }

        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void growInTheOrderOfTheGrantsWhenManyAcquireAtOnce() {
        String mutex = cluster.semaphore(1);
        List<String> names = cluster.semaphores(2, 100);
        List<Long> tokensOfMutex = Collections.synchronizedList(new ArrayList<>());
        List<List<Long>> tokens = List.of(
                Collections.synchronizedList(new ArrayList<>()), Collections.synchronizedList(new ArrayList<>()));

        // The mutex has one holder at a time: the tokens are recorded in the order of the grants.
        Concurrently.run(8, Duration.ofSeconds(60), thread -> {
            Random random = new Random(thread);
            for (int batch = 0; batch < 15; batch++) {
                int beside = random.nextInt(2);
                try (PermitGrant grant = cluster.node(thread)
                        .semaphores()
                        .acquire(AcquireRequest.of(names.get(beside), mutex).withWaitTime(Duration.ofSeconds(50)))) {
                    tokensOfMutex.add(grant.fencingToken(mutex));
                    tokens.get(beside).add(grant.fencingToken(names.get(beside)));
                }
            }
        });

        assertThat(tokensOfMutex).hasSize(120).isSorted().doesNotHaveDuplicates();
        assertThat(tokens)
                .allSatisfy(ofOne -> assertThat(ofOne).isNotEmpty().isSorted().doesNotHaveDuplicates());
    }

    @Test
    void areOfOneSemaphoreEach() {
        String one = cluster.semaphore(3);
        String two = cluster.semaphore(3);
        cluster.node(0).semaphores().acquire(AcquireRequest.of(one));

        PermitGrant grant = cluster.node(1).semaphores().acquire(AcquireRequest.of(one, two));

        assertThat(cluster.node(0).admin().holders(one))
                .hasSize(2)
                .last()
                .satisfies(holder -> assertThat(holder.fencingToken()).isEqualTo(grant.fencingToken(one)));
        assertThat(cluster.node(0).admin().holders(two))
                .singleElement()
                .satisfies(holder -> assertThat(holder.fencingToken()).isEqualTo(grant.fencingToken(two)));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(grant::fencingToken)
                .withMessageContainingAll(one, two);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> grant.fencingToken("another"))
                .withMessageContaining("another");
    }

    @Test
    void goOnAboveTheOldOnesAfterASemaphoreWasDeletedAndMadeAgain() {
        String name = cluster.semaphore(1);
        Node deleting = cluster.node(0);
        Node remembering = cluster.node(1);
        long before = acquireAndRelease(remembering, name);
        before = Math.max(before, acquireAndRelease(deleting, name));

        assertThat(deleting.admin().delete(name)).isEqualTo(true);
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> remembering.semaphores().acquire(AcquireRequest.of(name)))
                .withMessageContaining(name);
        assertThat(deleting.admin().create(name, 1)).isEqualTo(true);

        assertThat(acquireAndRelease(remembering, name)).isGreaterThan(before);
    }

    /** With reuse, others reserve many. A semaphore that is deleted and created again continues at the current time, not above those. */
    @Test
    void areReservedForGrantsOfTheirOwnSemaphoreOnly() {
        SemaphoreSettings reuse = TestSettings.defaults()
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("reused*", Duration.ofSeconds(1)));
        SemaphoreRows rows = new SemaphoreRows(cluster.schema());
        String name = cluster.semaphore(100);
        long before = rows.fence(name);
        List<CompletableFuture<PermitGrant>> grants = new ArrayList<>();
        try (Node node = Node.on(cluster.schema(), reuse)) {
            IntStream.range(0, 50).forEach(i -> node.admin().create("reused" + i, 1));
            for (int i = 0; i < 50; i++) {
                grants.add(node.semaphores()
                        .acquireAsync(AcquireRequest.of("reused" + i).withKeepAlive(true)));
                grants.add(node.semaphores().acquireAsync(AcquireRequest.of(name)));
            }
            grants.forEach(grant -> grant.join().release());
        }

        assertThat(rows.fence(name)).isEqualTo(before + 50);
    }

    @Test
    void goOnWhereAnotherNodeStillRemembersTheDeletedSemaphore() {
        String name = cluster.semaphore(1);
        long before = acquireAndRelease(cluster.node(1), name);

        cluster.node(0).admin().delete(name);
        cluster.node(0).admin().create(name, 2);

        assertThat(acquireAndRelease(cluster.node(1), name)).isGreaterThan(before);
        assertThat(cluster.node(1)
                        .semaphores()
                        .tryAcquire(AcquireRequest.of(name).withPermits(name, 2)))
                .isPresent();
    }

    private static long acquireAndRelease(Node node, String name) {
        try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name))) {
            return grant.fencingToken();
        }
    }
}
