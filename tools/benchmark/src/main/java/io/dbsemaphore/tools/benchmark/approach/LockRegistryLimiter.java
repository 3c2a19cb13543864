package io.dbsemaphore.tools.benchmark.approach;

import java.util.List;
import java.util.concurrent.locks.Lock;
import javax.sql.DataSource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.transaction.PlatformTransactionManager;

/** Spring Integration's {@code JdbcLockRegistry} with its defaults: one lock for each semaphore. */
final class LockRegistryLimiter implements Limiter {

    private static final String PREFIX = Tables.PREFIX + "int_";

    static final List<String> DDL = List.of("""
            create table %sLOCK (
                lock_key char(36) not null,
                region varchar(100) not null,
                client_id char(36),
                created_date timestamp(6) not null,
                expired_after timestamp(6) not null,
                primary key (lock_key, region))""".formatted(PREFIX));

    private final DefaultLockRepository repository;
    private final JdbcLockRegistry registry;

    LockRegistryLimiter(DataSource dataSource, PlatformTransactionManager transactions) {
        repository = new DefaultLockRepository(dataSource);
        repository.setPrefix(PREFIX);
        repository.setTransactionManager(transactions);
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        registry = new JdbcLockRegistry(repository);
    }

    @Override
    public Held acquire(List<Long> semaphores) {
        Lock lock = registry.obtain("bench-" + semaphores.get(0));
        lock.lock();
        return lock::unlock;
    }

    @Override
    public void close() {
        repository.stop();
    }
}
