package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.tools.faults.Workload;
import java.time.Duration;
import java.util.Random;

/** Chooses what a worker acquires, and for how long it holds it. */
final class RandomRequests {

    private final Random random;
    private final int sets;

    /** @param sets of semaphores to choose from */
    RandomRequests(Random random, int sets) {
        this.random = random;
        this.sets = sets;
    }

    /** The next request. */
    AcquireRequest next() {
        int choice = random.nextInt(100);
        int set = random.nextInt(sets);
        String wide = Workload.wide(set);
        AcquireRequest request;
        if (choice < 30) {
            return AcquireRequest.of(Workload.reused(set))
                    .withKeepAlive(true)
                    .withTtl(Workload.KEPT_ALIVE)
                    .withWaitTime(waitTime());
        } else if (choice < 45) {
            request = AcquireRequest.of(Workload.narrow(random.nextInt(Workload.OF_EACH * sets)));
        } else if (choice < 60) {
            request = AcquireRequest.of(Workload.pair(random.nextInt(Workload.OF_EACH * sets)));
        } else if (choice < 78) {
            request = AcquireRequest.of(wide).withPermits(wide, 1 + random.nextInt(3));
        } else if (choice < 80) {
            request = AcquireRequest.of(wide).exclusive();
        } else {
            request = AcquireRequest.of(Workload.together(set).toArray(String[]::new));
        }
        return (random.nextInt(3) == 0
                        ? request.withKeepAlive(true).withTtl(Workload.KEPT_ALIVE)
                        : request.withKeepAlive(false).withTtl(ttl()))
                .withWaitTime(waitTime());
    }

    /** Whether a request has an external id, with which it is repeated. */
    boolean isIdempotent(AcquireRequest request) {
        return !Workload.allReused(sets).containsAll(request.permits().keySet()) && random.nextInt(4) == 0;
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
