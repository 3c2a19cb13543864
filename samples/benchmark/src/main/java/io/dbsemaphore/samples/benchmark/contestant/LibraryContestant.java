package io.dbsemaphore.samples.benchmark.contestant;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.samples.benchmark.database.Target;
import java.util.List;

/** This library, as an application uses it: the defaults, and a pool that is as it is by itself. */
public final class LibraryContestant implements Contestant {

    private final HikariDataSource pool;
    private final SemaphoreEngine engine;
    private final SemaphoreOperations semaphores;

    /**
     * On tables with this prefix, which are there.
     *
     * @param connections how many it may use; that it needs few is part of what is measured
     */
    public LibraryContestant(Target target, String tablePrefix, int connections) {
        pool = target.pool("library", Math.max(connections, 4), config -> config.setMinimumIdle(2));
        engine = new SemaphoreEngine(
                pool, SemaphoreSettings.defaults().with(SemaphoreSettings.TABLE_PREFIX, tablePrefix));
        semaphores = new SemaphoreTemplate(engine.permitManager());
    }

    @Override
    public void prepare(long semaphore, int capacity) {
        engine.admin().create(name(semaphore), capacity);
    }

    @Override
    public Held acquire(List<Long> semaphores) {
        return hold(AcquireRequest.of(names(semaphores)))::release;
    }

    /** Acquires what is held until released, whatever happens to this JVM. */
    public PermitGrant acquireForGood(long semaphore) {
        return hold(AcquireRequest.of(name(semaphore)).withoutTtl());
    }

    @Override
    public int connectionsInUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public void close() {
        engine.close();
        pool.close();
    }

    private PermitGrant hold(AcquireRequest request) {
        return semaphores.acquire(request);
    }

    private static String[] names(List<Long> semaphores) {
        String[] names = new String[semaphores.size()];
        for (int i = 0; i < names.length; i++) {
            names[i] = name(semaphores.get(i));
        }
        return names;
    }

    private static String name(long semaphore) {
        return "bench-" + semaphore;
    }
}
