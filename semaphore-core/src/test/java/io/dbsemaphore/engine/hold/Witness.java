package io.dbsemaphore.engine.hold;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.Concurrently;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A table independent of the semaphores: each holder has a row in it, inserted after the acquire and deleted
 * before the release. The sum of its rows was held at one instant.
 */
final class Witness {

    private Witness() {}

    static void createTable(JdbcTemplate jdbc) {
        jdbc.execute("create table witness (id varchar(36) primary key, permits int not null)");
    }

    static int sum(JdbcTemplate jdbc) {
        return jdbc.queryForObject("select coalesce(sum(permits), 0) from witness", Integer.class);
    }

    /**
     * Acquires one or two permits and releases them, again and again on several threads.
     *
     * @return how many grants there were, a space, and the highest sum that one of the holders has seen
     */
    static String hammer(SemaphoreTemplate semaphores, JdbcTemplate jdbc, String name, int threads, Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        AtomicInteger grants = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        Concurrently.run(threads, duration.plusSeconds(30), thread -> {
            for (int turn = thread; System.nanoTime() < end; turn++) {
                int count = 1 + turn % 2;
                AcquireRequest request =
                        AcquireRequest.of(name).withPermits(name, count).withWaitTime(Duration.ofSeconds(5));
                Optional<PermitGrant> granted = semaphores.tryAcquire(request);
                if (granted.isPresent()) {
                    grants.incrementAndGet();
                    peak.accumulateAndGet(beThere(jdbc, count), Math::max);
                    granted.get().release();
                }
            }
        });
        return grants + " " + peak;
    }

    private static int beThere(JdbcTemplate jdbc, int permits) {
        String id = UUID.randomUUID().toString();
        jdbc.update("insert into witness values (?, ?)", id, permits);
        int sum = sum(jdbc);
        jdbc.update("delete from witness where id = ?", id);
        return sum;
    }
}
