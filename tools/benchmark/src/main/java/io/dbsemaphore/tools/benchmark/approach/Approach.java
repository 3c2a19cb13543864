package io.dbsemaphore.tools.benchmark.approach;

import com.zaxxer.hikari.HikariConfig;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The ways to limit concurrency that are compared. */
public enum Approach {
    DB_SEMAPHORE("db-semaphore", "DB Semaphore", "this library: many callers, one transaction"),
    UNFAIR("db-semaphore-unfair", "DB Semaphore, fair=false", "this library with a queue in each JVM"),
    NOTIFIED(
            "db-semaphore-notified",
            "DB Semaphore, notifications=true",
            "this library where releases are told to other JVMs (PostgreSQL)"),
    BY_SHARES("db-semaphore-shares", "DB Semaphore, 64 shares", "this library where each acquire has one of 64 shares"),
    BY_MANY_SHARES(
            "db-semaphore-many-shares",
            "DB Semaphore, 100,000 shares",
            "this library where each acquire has one of 100,000 shares, with weights from 1 to 1,000"),
    PLAIN_STATEMENTS(
            "plain-statements",
            "plain statements",
            "this library's statements by plain JDBC; one caller per transaction"),
    BARE_UPDATE(
            "bare-update", "bare UPDATE", "one committed UPDATE of a counter each way; no capacity, no crash recovery"),
    TEXTBOOK("textbook", "textbook", "SELECT FOR UPDATE, sum, insert, commit; one caller per transaction"),
    LOCK_REGISTRY("lock-registry", "JdbcLockRegistry", "Spring Integration; a mutex"),
    SHEDLOCK("shedlock", "ShedLock", "JdbcTemplateLockProvider; a mutex, polled until it is free"),
    REDISSON("redisson", "Redisson", "RPermitExpirableSemaphore on Redis");

    private final String id;
    private final String label;
    private final String description;

    Approach(String id, String label, String description) {
        this.id = id;
        this.label = label;
        this.description = description;
    }

    /** Its name on the command line and in CSV. */
    public String id() {
        return id;
    }

    /** Its name in tables. */
    public String label() {
        return label;
    }

    /** What it does. */
    public String description() {
        return description;
    }

    /** Sets up the pool of an approach that has one of its own. */
    public void configure(HikariConfig pool) {
        if (this == PLAIN_STATEMENTS) {
            PlainStatementsLimiter.configure(pool);
        }
    }

    /**
     * Opens it in this JVM.
     *
     * @param pool its connections
     * @param tablePrefix of the library's tables, which exist
     * @param jvm 0 or 1
     */
    public Limiter open(DataSource pool, String tablePrefix, Demands demands, Target target, int jvm)
            throws SQLException {
        JdbcTemplate jdbc = new JdbcTemplate(pool);
        PlatformTransactionManager transactions = new DataSourceTransactionManager(pool);
        return switch (this) {
            case DB_SEMAPHORE, UNFAIR, NOTIFIED, BY_SHARES, BY_MANY_SHARES ->
                new DbSemaphoreLimiter(pool, tablePrefix, demands, this);
            case PLAIN_STATEMENTS -> new PlainStatementsLimiter(pool, tablePrefix);
            case TEXTBOOK -> new TextbookLimiter(jdbc, new TransactionTemplate(transactions), jvm);
            case BARE_UPDATE -> new BareUpdateLimiter(jdbc, new TransactionTemplate(transactions));
            case LOCK_REGISTRY -> new LockRegistryLimiter(pool, transactions);
            case SHEDLOCK -> new ShedLockLimiter(jdbc);
            case REDISSON -> new RedissonLimiter(Objects.requireNonNull(target.redis()));
        };
    }

    /** How many shares its acquires have; 0 if they have none. */
    int shares() {
        return switch (this) {
            case BY_SHARES -> 64;
            case BY_MANY_SHARES -> 100_000;
            default -> 0;
        };
    }

    /** Whether it is this library. */
    public boolean isLibrary() {
        return switch (this) {
            case DB_SEMAPHORE, UNFAIR, NOTIFIED, BY_SHARES, BY_MANY_SHARES -> true;
            default -> false;
        };
    }

    /** Whether it uses tables of this library, and a pool of its own. */
    public boolean usesLibraryTables() {
        return isLibrary() || this == PLAIN_STATEMENTS;
    }

    /** Whether it acquires several names at once, all or nothing. */
    public boolean acquiresSeveralNames() {
        return isLibrary() || this == TEXTBOOK || this == BARE_UPDATE;
    }
}
