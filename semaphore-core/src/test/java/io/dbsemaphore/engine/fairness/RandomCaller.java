package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.springframework.dao.QueryTimeoutException;

/** One thread that acquires and releases: waiting or not, for several permits, exclusively, several semaphores, or cancelling. */
final class RandomCaller {

    private static final Duration LONG = Duration.ofSeconds(40);

    private final Node node;
    private final Map<String, Integer> capacities;
    private final List<String> names;
    private final Map<String, PeakCounter> used;
    private final WaitingCalls calls;
    private final Map<String, AtomicInteger> outcomes;
    private final Random random;

    RandomCaller(
            Node node,
            Map<String, Integer> capacities,
            Map<String, PeakCounter> used,
            WaitingCalls calls,
            Map<String, AtomicInteger> outcomes,
            Random random) {
        this.node = node;
        this.capacities = capacities;
        this.names = List.copyOf(capacities.keySet());
        this.used = used;
        this.calls = calls;
        this.outcomes = outcomes;
        this.random = random;
    }

    /** Acquires once, and releases. */
    void run() throws InterruptedException {
        AcquireRequest request = request();
        if (waitTime(request).isZero()) {
            use(request, node.semaphores().tryAcquire(request));
            return;
        }
        WaitingCalls.Call call = calls.begin(request);
        Optional<PermitGrant> grant = Optional.empty();
        try {
            grant = waitTime(request).equals(LONG) && random.nextInt(5) == 0 ? cancelled(request) : waiting(request);
        } finally {
            calls.end(call, grant.isPresent());
        }
        use(request, grant);
    }

    private Optional<PermitGrant> waiting(AcquireRequest request) {
        if (random.nextInt(20) == 0) {
            Thread.currentThread().interrupt();
        }
        try {
            return Optional.of(node.semaphores().acquire(request));
        } catch (PermitsUnavailableException refused) {
            assertThat(waitTime(request)).as("refused: " + refused).isLessThan(LONG);
            return Optional.empty();
        } catch (QueryTimeoutException undecided) { // a loaded machine: the last attempt could not begin in time
            assertThat(waitTime(request)).as("undecided: " + undecided).isLessThan(LONG);
            return Optional.empty();
        } catch (AcquireInterruptedException interrupted) {
            return Optional.empty();
        } finally {
            boolean unused = Thread.interrupted();
        }
    }

    private Optional<PermitGrant> cancelled(AcquireRequest request) throws InterruptedException {
        CompletableFuture<PermitGrant> future = node.semaphores().acquireAsync(request);
        try {
            return Optional.of(future.get(random.nextInt(60), TimeUnit.MILLISECONDS));
        } catch (TimeoutException notYet) {
            return future.cancel(true) ? Optional.empty() : Optional.of(future.join());
        } catch (ExecutionException failure) {
            throw new AssertionError(failure);
        }
    }

    private void use(AcquireRequest request, Optional<PermitGrant> grant) {
        outcomes.computeIfAbsent(
                        (waitTime(request).isZero() ? "without wait time " : "waiting ")
                                + (grant.isPresent() ? "granted" : "not granted"),
                        key -> new AtomicInteger())
                .incrementAndGet();
        grant.ifPresent(held -> {
            held.permits().forEach((name, count) -> used.get(name).enter(count));
            LockSupport.parkNanos(Duration.ofMillis(random.nextInt(random.nextInt(8) == 0 ? 200 : 20))
                    .toNanos());
            held.permits().forEach((name, count) -> used.get(name).leave(count));
            held.release();
        });
    }

    private AcquireRequest request() {
        AcquireRequest request = permits();
        int wait = random.nextInt(8);
        return wait == 0 ? request : request.withWaitTime(wait == 1 ? Duration.ofMillis(random.nextInt(1_500)) : LONG);
    }

    /** Every other semaphore is acquired exclusively, too; the last two together. */
    private AcquireRequest permits() {
        int index = random.nextInt(names.size());
        String name = names.get(index);
        if (index % 2 == 1 && random.nextInt(6) == 0) {
            return AcquireRequest.of(name).exclusive();
        }
        int last = names.size() - 1;
        return index >= last - 1 && random.nextInt(3) == 0
                ? AcquireRequest.of(names.get(last - 1), names.get(last))
                : AcquireRequest.of(name).withPermits(name, 1 + random.nextInt(capacities.get(name)));
    }

    private static Duration waitTime(AcquireRequest request) {
        return request.waitTime().orElse(Duration.ZERO);
    }
}
