package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import java.time.Duration;

/** 20 cars, each rented for a minute, unless that is extended. */
public class Rentals {

    private final SemaphoreOperations semaphores;

    public Rentals(SemaphoreOperations semaphores) {
        this.semaphores = semaphores;
    }

    public String rent() throws InterruptedException {
        AcquireRequest cars = AcquireRequest.of("car");
        String id = semaphores
                .tryAcquire(cars.withWaitTime(Duration.ofSeconds(2))
                        .withTtl(Duration.ofSeconds(60))
                        .withReleaseAtShutdown(false))
                .map(PermitGrant::externalId)
                .orElse(null);
        if (id == null) {
            throw new IllegalStateException("No car is free");
        }
        return id;
    }

    public void extend(String id) {
        semaphores.renew(id, Duration.ofSeconds(60));
    }

    public void giveBack(String id) {
        semaphores.release(id);
    }
}
