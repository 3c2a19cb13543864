package io.dbsemaphore.samples.migration.before;

import java.time.Duration;
import java.util.function.Supplier;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** At most 50 calls to a partner at the same time. */
public class PartnerCalls {

    private final RedissonClient redisson;

    public PartnerCalls(RedissonClient redisson) {
        this.redisson = redisson;
        redisson.getSemaphore("partner").trySetPermits(50);
    }

    public String call(Supplier<String> request) throws InterruptedException {
        RSemaphore permits = redisson.getSemaphore("partner");
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
