package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Callers on two servers of a cluster whose transactions write the same rows, so that one of two fails at its commit. Every
 * exception that one of them sees fails the test.
 */
final class ConflictingCallers {

    private static final int CALLERS_OF_TWO = 12;
    private static final int CALLERS_OF_ONE_ID = 20;
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final Duration DEADLINE = Duration.ofMinutes(3);

    private final List<Node> nodes;

    ConflictingCallers(Node first, Node second) {
        nodes = List.of(first, second);
    }

    private Node nodeOf(int caller) {
        return nodes.get(caller % nodes.size());
    }

    /** 12 callers acquire two of these semaphores, half of them in the opposite order, so many times each. */
    void acquireInOppositeOrders(List<String> names, int times) {
        Concurrently.run(CALLERS_OF_TWO, DEADLINE, caller -> {
            for (int time = 0; time < times; time++) {
                try (PermitGrant grant = nodeOf(caller)
                        .semaphores()
                        .acquire(request(names, caller + time).withWaitTime(PATIENCE))) {
                    assertThat(grant.permits()).hasSize(2);
                }
            }
        });
    }

    /**
     * The same without a wait time.
     *
     * @return how many acquires were granted
     */
    int tryInOppositeOrders(List<String> names, int times) {
        AtomicInteger granted = new AtomicInteger();
        Concurrently.run(CALLERS_OF_TWO, DEADLINE, caller -> {
            for (int time = 0; time < times; time++) {
                Optional<PermitGrant> grant = nodeOf(caller).semaphores().tryAcquire(request(names, caller + time));
                granted.addAndGet(grant.isPresent() ? 1 : 0);
                grant.ifPresent(PermitGrant::release);
            }
        });
        return granted.get();
    }

    private static AcquireRequest request(List<String> names, int number) {
        String one = names.get(number % names.size());
        String next = names.get((number + 1) % names.size());
        return number % 4 < 2 ? AcquireRequest.of(one, next) : AcquireRequest.of(next, one);
    }

    /** 20 callers acquire with one external id, half of them with a wait time, and all get the same grant. */
    void acquireWithOneExternalId(String name, String externalId) {
        AcquireRequest request = AcquireRequest.of(name).withExternalId(externalId);
        List<PermitGrant> grants = Concurrently.call(
                CALLERS_OF_ONE_ID,
                DEADLINE,
                caller ->
                        nodeOf(caller).semaphores().acquire(caller % 4 < 2 ? request : request.withWaitTime(PATIENCE)));
        Set<Long> tokens = new HashSet<>();
        grants.forEach(grant -> tokens.add(grant.fencingToken()));
        assertThat(tokens).as("fencing tokens of one external id").hasSize(1);
        Concurrently.run(nodes.size(), DEADLINE, node -> grants.get(node).release());
    }
}
