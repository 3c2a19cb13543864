package io.dbsemaphore.samples.benchmark.contestant;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.samples.benchmark.database.Tables;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** {@code JdbcLockRegistry} of Spring Integration, as it is by default: one lock for each semaphore. */
final class LockRegistryContestant implements Contestant {

    private static final String PREFIX = Tables.PREFIX + "int_";

    static final List<String> DDL = List.of("""
            create table %sLOCK (
                lock_key char(36) not null,
                region varchar(100) not null,
                client_id char(36),
                created_date timestamp(6) not null,
                expired_after timestamp(6) not null,
                primary key (lock_key, region))""".formatted(PREFIX));

    private final HikariDataSource pool;
    private final DefaultLockRepository repository;
    private final JdbcLockRegistry registry;

    LockRegistryContestant(HikariDataSource pool) {
        this.pool = pool;
        repository = new DefaultLockRepository(pool);
        repository.setPrefix(PREFIX);
        repository.setTransactionManager(new DataSourceTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        registry = new JdbcLockRegistry(repository);
    }

    @Override
    public void prepare(long semaphore, int capacity) {}

    @Override
    public Held acquire(List<Long> semaphores) {
        Lock lock = registry.obtain("bench-" + semaphores.get(0));
        lock.lock();
        return lock::unlock;
    }

    @Override
    public int connectionsInUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public void close() {
        repository.stop();
    }
}
