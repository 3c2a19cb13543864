package io.dbsemaphore.samples.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.samples.faults.Workload;
import java.time.Duration;
import java.util.Random;

/** Chooses what a worker acquires, and for how long it holds it. */
final class RandomRequests {

    private final Random random;

    RandomRequests(Random random) {
        this.random = random;
    }

    /** The next request. */
    AcquireRequest next() {
        int choice = random.nextInt(100);
        AcquireRequest request;
        if (choice < 30) {
            return AcquireRequest.of(Workload.REUSED)
                    .withKeepAlive(true)
                    .withTtl(Workload.KEPT_ALIVE)
                    .withWaitTime(waitTime());
        } else if (choice < 45) {
            request = AcquireRequest.of(Workload.narrow(random.nextInt(Workload.OF_EACH)));
        } else if (choice < 60) {
            request = AcquireRequest.of(Workload.pair(random.nextInt(Workload.OF_EACH)));
        } else if (choice < 78) {
            request = AcquireRequest.of(Workload.WIDE).withPermits(Workload.WIDE, 1 + random.nextInt(3));
        } else if (choice < 80) {
            request = AcquireRequest.of(Workload.WIDE).exclusive();
        } else {
            request = AcquireRequest.of(Workload.TOGETHER.toArray(String[]::new));
        }
        return (random.nextInt(3) == 0
                        ? request.withKeepAlive(true).withTtl(Workload.KEPT_ALIVE)
                        : request.withKeepAlive(false).withTtl(ttl()))
                .withWaitTime(waitTime());
    }

    /** Whether a request has an external id, with which it is repeated. */
    boolean isIdempotent(AcquireRequest request) {
        return !request.permits().containsKey(Workload.REUSED) && random.nextInt(4) == 0;
    }

    boolean isRepeated() {
        return random.nextInt(4) == 0;
    }

    /** How long the permits are held; now and then for longer than their TTL. */
    Duration hold() {
        return random.nextInt(500) == 0
                ? Duration.ofMillis(random.nextInt(5000))
                : Duration.ofMillis(random.nextInt(4) == 0 ? random.nextInt(30) : 0);
    }

    private Duration ttl() {
        return Duration.ofMillis(1000 + random.nextInt((int) Workload.LONGEST_TTL.toMillis() - 1000));
    }

    private Duration waitTime() {
        return random.nextInt(3) == 0 ? Duration.ZERO : Duration.ofMillis(200 + random.nextInt(2800));
    }
}
