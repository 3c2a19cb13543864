package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Grants permits from memory, all or none, and remembers what it was asked. Every capacity is 1 unless set. */
final class InMemoryPermitManager implements PermitManager {

    final List<AcquireRequest> requests = new CopyOnWriteArrayList<>();
    final List<String> events = new CopyOnWriteArrayList<>();
    final List<Thread> acquiringThreads = new CopyOnWriteArrayList<>();
    final List<Thread> releasingThreads = new CopyOnWriteArrayList<>();
    final CountDownLatch waiting = new CountDownLatch(1);
    final AtomicLong releases = new AtomicLong();

    /** Where set, a grant is not handed out before it opens, as when the answer of the database is slow. */
    volatile @Nullable CountDownLatch answer;

    /** Counted down when a grant exists whose answer is held back. */
    final CountDownLatch granted = new CountDownLatch(1);

    volatile @Nullable RuntimeException releaseFailure;

    private final Map<String, Integer> capacities = new HashMap<>();
    private final Map<String, Integer> held = new HashMap<>();
    private final Map<String, Integer> peaks = new HashMap<>();
    private final AtomicLong tokens = new AtomicLong();

    synchronized void capacity(String name, int capacity) {
        capacities.put(name, capacity);
        notifyAll();
    }

    synchronized int held(String name) {
        return held.getOrDefault(name, 0);
    }

    synchronized int heldInTotal() {
        return held.values().stream().mapToInt(Integer::intValue).sum();
    }

    synchronized int peak(String name) {
        return peaks.getOrDefault(name, 0);
    }

    AcquireRequest lastRequest() {
        return requests.get(requests.size() - 1);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        requests.add(request);
        acquiringThreads.add(Thread.currentThread());
        AcquireResult result = grantInTime(request);
        CountDownLatch held = answer;
        if (held != null) {
            granted.countDown();
            awaitUninterruptibly(held);
        }
        return result;
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return acquire(request);
    }

    /** Waits on a thread of its own, which is interrupted when the future is cancelled. */
    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        CompletableFuture<AcquireResult> future = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                AcquireResult result = acquire(request);
                if (!future.complete(result) && result instanceof AcquireResult.Granted unwanted) {
                    unwanted.grant().release();
                }
            } catch (RuntimeException failure) {
                future.completeExceptionally(failure);
            }
        });
        thread.setDaemon(true);
        thread.start();
        CompletableFuture<?> unused = future.whenComplete((result, failure) -> {
            if (future.isCancelled()) {
                thread.interrupt();
            }
        });
        return future;
    }

    private synchronized AcquireResult grantInTime(AcquireRequest request) {
        Duration waitTime = request.waitTime().orElse(Duration.ZERO);
        long deadline = System.nanoTime() + waitTime.toNanos();
        while (!request.permits().entrySet().stream().allMatch(this::isFree)) {
            long millis = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
            if (millis <= 0) {
                return new AcquireResult.Unavailable(
                        request.permits().entrySet().stream()
                                .filter(permit -> !isFree(permit))
                                .map(permit -> new PermitShortage(
                                        permit.getKey(),
                                        capacities.getOrDefault(permit.getKey(), 1),
                                        held(permit.getKey()),
                                        permit.getValue(),
                                        Optional.empty()))
                                .toList(),
                        waitTime);
            }
            waiting.countDown();
            try {
                wait(millis);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new AcquireInterruptedException(request.permits().keySet());
            }
        }
        request.permits().forEach((name, count) -> {
            held.merge(name, count, Integer::sum);
            peaks.merge(name, held(name), Math::max);
        });
        events.add("acquire");
        return new AcquireResult.Granted(new Grant(request, tokens.incrementAndGet()));
    }

    private boolean isFree(Map.Entry<String, Integer> permit) {
        return held(permit.getKey()) + permit.getValue() <= capacities.getOrDefault(permit.getKey(), 1);
    }

    private synchronized void giveBack(AcquireRequest request) {
        request.permits().forEach((name, count) -> held.merge(name, -count, Integer::sum));
        events.add("release");
        notifyAll();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        throw new UnsupportedOperationException();
    }

    private final class Grant implements PermitGrant {

        private final AcquireRequest request;
        private final long token;
        private final AtomicBoolean held = new AtomicBoolean(true);

        Grant(AcquireRequest request, long token) {
            this.request = request;
            this.token = token;
        }

        @Override
        public String externalId() {
            return "grant-" + token;
        }

        @Override
        public String owner() {
            return request.owner().orElse("test");
        }

        @Override
        public Map<String, Integer> permits() {
            return request.permits();
        }

        @Override
        public long fencingToken(String name) {
            return token;
        }

        @Override
        public long fencingToken() {
            return token;
        }

        @Override
        public Instant acquiredAt() {
            return Instant.EPOCH;
        }

        @Override
        public Optional<Instant> expiresAt() {
            return Optional.empty();
        }

        @Override
        public boolean isReplayed() {
            return false;
        }

        @Override
        public boolean isHeld() {
            return held.get();
        }

        @Override
        public PermitGrant renew(Duration ttl) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ReleaseOutcome release() {
            releases.incrementAndGet();
            releasingThreads.add(Thread.currentThread());
            if (!held.compareAndSet(true, false)) {
                return ReleaseOutcome.ALREADY_RELEASED;
            }
            giveBack(request);
            RuntimeException failure = releaseFailure;
            if (failure != null) {
                throw failure;
            }
            return ReleaseOutcome.RELEASED;
        }
    }
}
