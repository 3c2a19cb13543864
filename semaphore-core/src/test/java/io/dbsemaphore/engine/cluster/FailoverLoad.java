package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.springframework.dao.DataAccessException;

/**
 * Callers of two instances that acquire a permit of one semaphore and release it, again and again, while its database moves
 * to another server. It knows what they were told, and nothing of the database.
 */
final class FailoverLoad {

    /** How long callers wait, and how long the database may be away. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final int THREADS = 8;

    private final String name;
    private final PeakCounter inside = new PeakCounter();
    private final AtomicInteger grants = new AtomicInteger();
    private final AtomicLong highestToken = new AtomicLong();
    private final AtomicLong lastGrant = new AtomicLong(System.nanoTime());
    private final AtomicLong longestPause = new AtomicLong();
    private final Queue<String> broken = new ConcurrentLinkedQueue<>();
    private final Queue<DataAccessException> failures = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Future<Void> callers;

    private FailoverLoad(Node first, Node second, String name) {
        this.name = name;
        this.callers = Concurrently.async(() -> {
            Concurrently.run(THREADS, PATIENCE.multipliedBy(3), thread -> {
                while (!ended.get()) {
                    call(thread % 2 == 0 ? first : second);
                }
            });
            return null;
        });
    }

    /** Starts the callers, and waits until they are at work. */
    static FailoverLoad start(Node first, Node second, String name) {
        FailoverLoad load = new FailoverLoad(first, second, name);
        load.awaitMore();
        return load;
    }

    /** Waits until there were further grants. */
    void awaitMore() {
        int before = grants.get();
        Awaitility.await("further grants").atMost(PATIENCE).until(() -> grants.get() >= before + 30);
    }

    /**
     * Ends the callers, and looks at what they were told: never more inside than this, the grants in the order of their
     * fencing tokens, none forgotten.
     */
    void end(int most) throws Exception {
        ended.set(true);
        Concurrently.get(callers, PATIENCE.multipliedBy(2));
        assertThat(inside.peak()).as("inside at once").isBetween(1, most);
        assertThat(broken).isEmpty();
        assertThat(failures)
                .as("at most one for each caller: they wait for longer than the database is away")
                .hasSizeLessThanOrEqualTo(THREADS);
    }

    /** The longest time without a grant. */
    Duration longestPause() {
        return Duration.ofNanos(longestPause.get());
    }

    private void call(Node node) {
        long before = highestToken.get();
        try {
            PermitGrant grant = acquire(node, name);
            inside.enter();
            told(grant, before);
            inside.leave();
            if (grant.release() == ReleaseOutcome.NOT_FOUND) {
                broken.add("forgotten: " + grant);
            }
        } catch (DataAccessException unavailable) {
            failures.add(unavailable);
        }
    }

    private void told(PermitGrant grant, long before) {
        if (grant.fencingToken() <= before) {
            broken.add("%s, though %d was told before it was asked for".formatted(grant, before));
        }
        highestToken.accumulateAndGet(grant.fencingToken(), Math::max);
        long now = System.nanoTime();
        longestPause.accumulateAndGet(now - lastGrant.getAndSet(now), Math::max);
        grants.incrementAndGet();
    }

    private static PermitGrant acquire(Node node, String name) {
        return node.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(10)).withWaitTime(PATIENCE));
    }
}
