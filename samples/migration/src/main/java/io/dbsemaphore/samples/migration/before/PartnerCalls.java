package io.dbsemaphore.samples.migration.before;

import java.time.Duration;
import java.util.function.Supplier;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Redisson's RSemaphore. */
public class PartnerCalls {

    private final RSemaphore permits;

    public PartnerCalls(RedissonClient redisson) {
        permits = redisson.getSemaphore("partner");
        permits.trySetPermits(50);
    }

    public String call(Supplier<String> request) throws InterruptedException {
        if (!permits.tryAcquire(Duration.ofSeconds(2))) {
            throw new IllegalStateException("The partner is busy");
        }
        try {
            return request.get();
        } finally {
            permits.release();
        }
    }
}
