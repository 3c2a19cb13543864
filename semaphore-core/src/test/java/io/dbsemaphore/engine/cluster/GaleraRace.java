package io.dbsemaphore.engine.cluster;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Many threads, by turns on one node and another, acquire scarce permits and release them at once. A caller that is
 * inside is counted here, without the database.
 */
final class GaleraRace {

    private static final int THREADS = 16;
    /** The work under a permit: long enough for an excess grant to be detected. */
    private static final Duration WORK = Duration.ofMillis(1);

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration DEADLINE = Duration.ofMinutes(6);

    private final List<Node> nodes;
    private final String small;
    private final String other;
    private final Map<String, Integer> capacities;
    private final Map<String, PeakCounter> inside = new HashMap<>();
    private final List<AtomicInteger> acquired;

    GaleraRace(List<Node> nodes, String small, int smallCapacity, String other, int otherCapacity) {
        this.nodes = nodes;
        this.small = small;
        this.other = other;
        this.capacities = Map.of(small, smallCapacity, other, otherCapacity);
        this.acquired = nodes.stream().map(node -> new AtomicInteger()).toList();
        capacities.keySet().forEach(name -> inside.put(name, new PeakCounter()));
    }

    /** Runs until there were so many acquires, as many on each node, or more were inside than may be. */
    void run(int acquires) {
        Concurrently.run(THREADS, DEADLINE, thread -> {
            Random random = new Random(thread);
            int at = thread % nodes.size();
            Node node = nodes.get(at);
            while (acquired.get(at).incrementAndGet() <= acquires / nodes.size() && !isOverCapacity()) {
                try (PermitGrant grant = node.semaphores().acquire(request(random))) {
                    grant.permits().forEach((name, count) -> inside.get(name).enter(count));
                    LockSupport.parkNanos(WORK.toNanos());
                    grant.permits().forEach((name, count) -> inside.get(name).leave(count));
                }
            }
        });
    }

    /** Mostly one permit of the small one, sometimes two, one of each, or all there are. */
    private AcquireRequest request(Random random) {
        AcquireRequest request = switch (random.nextInt(20)) {
            case 0 -> AcquireRequest.of(small).exclusive();
            case 1, 2 -> AcquireRequest.of(other, small);
            case 3, 4 -> AcquireRequest.of(small).withPermits(small, 2);
            default -> AcquireRequest.of(small);
        };
        return request.withWaitTime(PATIENCE);
    }

    /** The most that were inside at once, by name. */
    Map<String, Integer> peaks() {
        Map<String, Integer> peaks = new HashMap<>();
        inside.forEach((name, counter) -> peaks.put(name, counter.peak()));
        return peaks;
    }

    private boolean isOverCapacity() {
        return peaks().entrySet().stream().anyMatch(peak -> peak.getValue() > capacities.get(peak.getKey()));
    }
}
