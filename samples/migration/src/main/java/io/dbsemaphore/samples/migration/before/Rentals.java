package io.dbsemaphore.samples.migration.before;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** Redisson's RPermitExpirableSemaphore. */
public class Rentals {

    private final RPermitExpirableSemaphore cars;

    public Rentals(RedissonClient redisson) {
        cars = redisson.getPermitExpirableSemaphore("car");
        cars.trySetPermits(20);
    }

    public String rent() throws InterruptedException {
        String id = cars.tryAcquire(2, 60, TimeUnit.SECONDS);
        if (id == null) {
            throw new IllegalStateException("No car is free");
        }
        return id;
    }

    public void extend(String id) {
        cars.updateLeaseTime(id, 60, TimeUnit.SECONDS);
    }

    public void giveBack(String id) {
        cars.release(id);
    }
}
