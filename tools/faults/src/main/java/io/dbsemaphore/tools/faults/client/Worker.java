package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Acquires at random, holds for a while, releases; repeats some acquires, and those that failed, with the same external id. */
final class Worker implements Runnable {

    private static final int ATTEMPTS = 5;
    private static final Duration AFTER_FAILURE = Duration.ofMillis(20);

    private final Caller caller;
    private final Map<String, Integer> capacities;
    private final RandomRequests requests;
    private final CountDownLatch stopped;

    Worker(Caller caller, Map<String, Integer> capacities, RandomRequests requests, CountDownLatch stopped) {
        this.caller = caller;
        this.capacities = capacities;
        this.requests = requests;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        while (stopped.getCount() > 0) {
            String request = caller.newRequest();
            AcquireRequest wanted = requests.next();
            if (requests.isIdempotent(wanted)) {
                work(request, wanted.withExternalId(request), ATTEMPTS);
            } else {
                work(request, wanted, 1);
            }
        }
    }

    private void work(String request, AcquireRequest wanted, int attempts) {
        for (int attempt = 1; attempt <= attempts && stopped.getCount() > 0; attempt++) {
            Optional<PermitGrant> grant = acquire(request, wanted);
            if (grant.isPresent()) {
                pause(requests.hold());
                if (attempts > 1 && requests.isRepeated() && stopped.getCount() > 0) {
                    acquire(request, wanted); // only its answer is of interest
                }
                caller.release(request, grant.get());
                return;
            }
            pause(AFTER_FAILURE);
        }
    }

    private Optional<PermitGrant> acquire(String request, AcquireRequest wanted) {
        return caller.acquire(request, wanted, Caller.permits(wanted, capacities));
    }

    private void pause(Duration time) {
        try {
            if (!time.isZero()) {
                boolean unused = stopped.await(time.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
