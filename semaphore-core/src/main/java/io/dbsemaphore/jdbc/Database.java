package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.function.BiFunction;
import javax.sql.DataSource;

/** The supported databases, described by the capabilities in which they differ. */
public enum Database {

    /** MySQL 8.4 and later. */
    MYSQL(
            "utc_timestamp(6)",
            "timestampadd(microsecond, ?1 * 1000, utc_timestamp(6))",
            "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
            "for share",
            SystemVariableLimits::mysql),

    /** MariaDB 10.11 and later. */
    MARIADB(
            "utc_timestamp(6)",
            "timestampadd(microsecond, ?1 * 1000, utc_timestamp(6))",
            "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
            "lock in share mode",
            SystemVariableLimits::mariadb),

    /** PostgreSQL 14 and later. */
    POSTGRESQL(
            "(clock_timestamp() at time zone 'UTC')",
            "((clock_timestamp() at time zone 'UTC') + ?1 * interval '1 millisecond')",
            "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)",
            "for share",
            TransactionLocalLimits::new),

    /**
     * H2 2.x, for tests and demos. It has no limit that ends the session of a JVM that was frozen within a transaction.
     * A cast of its clock to a timestamp without time zone would use the time zone of the session, whatever zone was
     * specified; hence the detour through the epoch.
     */
    H2(
            "dateadd(microsecond, cast(extract(epoch from current_timestamp) * 1000000 as bigint), timestamp '1970-01-01 00:00:00')",
            "dateadd(millisecond, ?1, dateadd(microsecond, cast(extract(epoch from current_timestamp) * 1000000 as bigint), timestamp '1970-01-01 00:00:00'))",
            "cast(extract(epoch from current_timestamp) * 1000000 as bigint)",
            "for update",
            H2Limits::new);

    private final String utcNow;
    private final String utcPlusMillis;
    private final String epochMicros;
    private final String sharedRowLock;
    private final BiFunction<Duration, Duration, SessionLimits> sessionLimits;

    Database(
            String utcNow,
            String utcPlusMillis,
            String epochMicros,
            String sharedRowLock,
            BiFunction<Duration, Duration, SessionLimits> sessionLimits) {
        this.utcNow = utcNow;
        this.utcPlusMillis = utcPlusMillis;
        this.epochMicros = epochMicros;
        this.sharedRowLock = sharedRowLock;
        this.sessionLimits = sessionLimits;
    }

    /**
     * Determines the database of a data source.
     *
     * @throws SQLException if the database cannot be queried
     * @throws UnknownDatabaseException if the database is none of these
     */
    public static Database of(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData metaData = connection.getMetaData();
            return of(metaData.getDatabaseProductName(), metaData.getDatabaseProductVersion());
        }
    }

    static Database of(String product, String version) {
        String name = product.toLowerCase(Locale.ROOT);
        if (name.contains("mariadb") || version.toLowerCase(Locale.ROOT).contains("mariadb")) {
            return MARIADB;
        }
        return switch (name) {
            case "mysql" -> MYSQL;
            case "postgresql" -> POSTGRESQL;
            case "h2" -> H2;
            default -> throw new UnknownDatabaseException(product, version);
        };
    }

    /**
     * SQL for the database's clock as a timestamp without time zone, in UTC, independent of the time zone of the
     * session.
     */
    public String utcNow() {
        return utcNow;
    }

    /** SQL for that clock plus {@code ?1} milliseconds. */
    public String utcPlusMillis() {
        return utcPlusMillis;
    }

    /** SQL for that clock as microseconds since 1970. */
    public String epochMicros() {
        return epochMicros;
    }

    /** SQL to append to a select of one row: other transactions can read and share-lock the row, but not change it. */
    public String sharedRowLock() {
        return sharedRowLock;
    }

    /** Whether a locking read finds a row that another transaction has inserted and not committed, and waits for it. */
    public boolean locksUncommittedRows() {
        return this == MYSQL || this == MARIADB;
    }

    /** Whether an update can return the rows that it has changed. */
    public boolean returnsUpdatedRows() {
        return this == POSTGRESQL;
    }

    /** SQL that tells whether the session or its server rejects writes. */
    String readOnlyQuery() {
        return switch (this) {
            case MYSQL -> "select @@session.transaction_read_only or @@global.read_only or @@global.innodb_read_only";
            case MARIADB -> "select @@session.tx_read_only or @@global.read_only or @@global.innodb_read_only";
            case POSTGRESQL -> "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean";
            case H2 -> "select readonly()";
        };
    }

    SessionLimits sessionLimits(Duration lockWait, Duration idle) {
        return sessionLimits.apply(lockWait, idle);
    }
}
