package io.dbsemaphore.tools.benchmark.approach;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock with the database's time. It does not wait, so an acquire polls it. */
final class ShedLockLimiter implements Limiter {

    private static final String TABLE = Tables.PREFIX + "shedlock";

    static final List<String> DDL = List.of("""
            create table %s (
                name varchar(64) not null primary key,
                lock_until timestamp(3) not null,
                locked_at timestamp(3) not null,
                locked_by varchar(255) not null)""".formatted(TABLE));

    private static final Duration POLL_INTERVAL = Duration.ofMillis(10);
    private static final Duration LOCK_AT_MOST = Duration.ofMinutes(5);

    private final LockProvider locks;

    ShedLockLimiter(JdbcTemplate jdbc) {
        locks = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(jdbc)
                .withTableName(TABLE)
                .usingDbTime()
                .build());
    }

    @Override
    public Held acquire(List<Long> semaphores) throws InterruptedException {
        String name = "bench-" + semaphores.get(0);
        while (true) {
            Optional<SimpleLock> lock =
                    locks.lock(new LockConfiguration(Instant.now(), name, LOCK_AT_MOST, Duration.ZERO));
            if (lock.isPresent()) {
                return lock.get()::unlock;
            }
            Thread.sleep(POLL_INTERVAL.toMillis());
        }
    }
}
