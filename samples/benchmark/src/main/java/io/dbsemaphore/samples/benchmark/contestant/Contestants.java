package io.dbsemaphore.samples.benchmark.contestant;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.samples.benchmark.database.Tables;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * The contestants of one workload in one JVM. Since they take turns, all but the library share a pool; it has a
 * connection for each thread.
 */
public final class Contestants implements AutoCloseable {

    private final HikariDataSource shared;
    private final Map<Approach, Contestant> contestants = new EnumMap<>(Approach.class);

    /** @param jvm 0 or 1 */
    public Contestants(Surroundings surroundings, Collection<Approach> approaches, int threads, int jvm) {
        shared = surroundings
                .target()
                .pool("shared", threads, config -> config.setTransactionIsolation("TRANSACTION_READ_COMMITTED"));
        try {
            approaches.forEach(approach -> contestants.put(approach, open(approach, surroundings, threads, jvm)));
        } catch (RuntimeException failure) {
            close();
            throw failure;
        }
    }

    /** The contestant of this approach. */
    public Contestant get(Approach approach) {
        return Objects.requireNonNull(contestants.get(approach), approach.label());
    }

    @Override
    public void close() {
        contestants.values().forEach(Contestant::close);
        shared.close();
    }

    private Contestant open(Approach approach, Surroundings surroundings, int threads, int jvm) {
        return switch (approach) {
            case LIBRARY -> new LibraryContestant(surroundings.target(), Tables.PREFIX, threads);
            case TEXTBOOK -> new TextbookContestant(shared, jvm);
            case BARE_UPDATE -> new BareUpdateContestant(shared);
            case LOCK_REGISTRY -> new LockRegistryContestant(shared);
            case SHEDLOCK -> new ShedLockContestant(shared);
            case REDISSON -> new RedissonContestant(Objects.requireNonNull(surroundings.redis()));
        };
    }
}
