package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import java.time.Duration;

/** Without RPermitExpirableSemaphore: semaphore.semaphores.car.capacity=20. */
public class Rentals {

    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final AcquireRequest CAR = AcquireRequest.of("car")
            .withTtl(MINUTE)
            .withWaitTime(Duration.ofSeconds(2))
            .withReleaseAtShutdown(false); // a car stays rented when this instance stops

    private final SemaphoreOperations semaphores;

    public Rentals(SemaphoreOperations semaphores) {
        this.semaphores = semaphores;
    }

    public String rent() {
        return semaphores.acquire(CAR).externalId();
    }

    public void extend(String id) {
        semaphores.renew(id, MINUTE);
    }

    public void giveBack(String id) {
        semaphores.release(id);
    }
}
