package io.dbsemaphore.samples.migration.before;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** 20 cars, each rented for a minute, unless that is extended. */
public class Rentals {

    private final RedissonClient redisson;

    public Rentals(RedissonClient redisson) {
        this.redisson = redisson;
        redisson.getPermitExpirableSemaphore("car").trySetPermits(20);
    }

    public String rent() throws InterruptedException {
        RPermitExpirableSemaphore cars = redisson.getPermitExpirableSemaphore("car");
        String id = cars.tryAcquire(2, 60, TimeUnit.SECONDS);
        if (id == null) {
            throw new IllegalStateException("No car is free");
        }
        return id;
    }

    public void extend(String id) {
        redisson.getPermitExpirableSemaphore("car").updateLeaseTime(id, 60, TimeUnit.SECONDS);
    }

    public void giveBack(String id) {
        redisson.getPermitExpirableSemaphore("car").release(id);
    }
}
