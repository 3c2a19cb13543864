package io.dbsemaphore.operations;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Grants that are kept alive, each of the only permit of its semaphore. */
record KeptGrants(List<PermitGrant> grants) {

    private static final Duration STALLS = Duration.ofSeconds(20);

    static KeptGrants of(Node node, int grants, Duration ttl) {
        return new KeptGrants(IntStream.range(0, grants)
                .mapToObj(i -> node.semaphores()
                        .acquire(AcquireRequest.of(node.semaphore(1))
                                .withTtl(ttl)
                                .withKeepAlive(true)))
                .toList());
    }

    PermitGrant first() {
        return grants.get(0);
    }

    boolean areHeld() {
        return grants.stream().allMatch(PermitGrant::isHeld);
    }

    /** Fails as soon as one of them is lost. */
    void stayHeldFor(Duration duration) {
        whileHeld().during(duration).atMost(duration.plus(STALLS)).until(() -> true);
    }

    /** Fails as soon as one of them is lost. */
    void stayHeldUntil(Future<?> end) {
        whileHeld().atMost(Duration.ofSeconds(30)).until(end::isDone);
    }

    private ConditionFactory whileHeld() {
        return Awaitility.await("to stay held")
                .pollInterval(Duration.ofMillis(50))
                .failFast("lost", () -> !areHeld());
    }
}
