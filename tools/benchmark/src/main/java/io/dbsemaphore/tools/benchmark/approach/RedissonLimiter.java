package io.dbsemaphore.tools.benchmark.approach;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's semaphore. Its promise is weaker: a Redis that fails over may forget what it granted. */
final class RedissonLimiter implements Limiter {

    private static final Duration LEASE = Duration.ofMinutes(5);

    private final RedissonClient client;

    RedissonLimiter(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address);
        client = Redisson.create(config);
    }

    @Override
    public void prepare(long semaphore, int capacity) {
        RPermitExpirableSemaphore prepared = semaphore(semaphore);
        prepared.delete();
        prepared.trySetPermits(capacity);
    }

    @Override
    public Held acquire(List<Long> semaphores) throws InterruptedException {
        RPermitExpirableSemaphore semaphore = semaphore(semaphores.get(0));
        String permit = semaphore.acquire(LEASE.toMillis(), TimeUnit.MILLISECONDS);
        return () -> semaphore.release(permit);
    }

    @Override
    public void close() {
        client.shutdown();
    }

    private RPermitExpirableSemaphore semaphore(long number) {
        return client.getPermitExpirableSemaphore("dbsemaphore-bench-" + number);
    }
}
