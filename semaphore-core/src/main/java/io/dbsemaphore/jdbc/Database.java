package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.ResultSetExtractor;

/** The supported databases, and the capabilities in which they differ. */
public enum Database {

    /** MySQL 8.4 and later. */
    MYSQL(
            "utc_timestamp(6)",
            "timestampadd(microsecond, ?1 * 1000, ?2)",
            "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
            "for share"),

    /** MariaDB 10.11 and later. */
    MARIADB(
            "utc_timestamp(6)",
            "timestampadd(microsecond, ?1 * 1000, ?2)",
            "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
            "lock in share mode"),

    /** PostgreSQL 15 and later. */
    POSTGRESQL(
            "(clock_timestamp() at time zone 'UTC')",
            "(?2 + ?1 * interval '1 millisecond')",
            "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)",
            "for share"),

    /**
     * H2 2.4, for tests and demos. It does not end idle transactions, such as those of a frozen JVM. Its clock is read
     * through the epoch, because a cast to a timestamp without time zone would always use the time zone of the session.
     */
    H2(
            "dateadd(microsecond, cast(extract(epoch from current_timestamp) * 1000000 as bigint), timestamp '1970-01-01 00:00:00')",
            "dateadd(millisecond, ?1, ?2)",
            "cast(extract(epoch from current_timestamp) * 1000000 as bigint)",
            "for update");

    private static final Logger log = LoggerFactory.getLogger(Database.class);

    private static final Pattern REPLAY = Pattern.compile("\\btransactionReplay=true\\b", Pattern.CASE_INSENSITIVE);

    /** The beginning of the URLs with which Connector/J switches to another session at each commit and rollback. */
    public static final String LOAD_BALANCING_URL = "jdbc:mysql:loadbalance:";

    /** Does not match the URL that Connector/J reports for {@code jdbc:mysql:replication:}. */
    private static final Pattern LOAD_BALANCING = Pattern.compile("jdbc:mysql(\\+srv)?:loadbalance:(?!//\\*\\*).*");

    private static final Set<String> DURABLE = Set.of("1", "on");

    /** The possible loss if a setting does not have its durable value, by the setting. */
    private static final Map<String, String> LOSSES = Map.of(
            "innodb_flush_log_at_trx_commit", "a crash of the server may lose up to a second of commits",
            "sync_binlog", "after a crash of the server, a replica that becomes the primary may lack the last commits",
            "fsync", "a crash of the machine may lose commits and corrupt the database",
            "synchronous_commit", "a crash of the server may lose the last commits");

    private static final Pattern PLUS_MILLIS = Pattern.compile("utc_plus_millis\\((?:([\\w.]+), )?(\\w+|\\?)\\)");

    private final String utcNow;
    private final String plusMillis;
    private final String epochMicros;
    private final String sharedRowLock;

    Database(String utcNow, String plusMillis, String epochMicros, String sharedRowLock) {
        this.utcNow = utcNow;
        this.plusMillis = plusMillis;
        this.epochMicros = epochMicros;
        this.sharedRowLock = sharedRowLock;
    }

    /**
     * Determines the database of a data source.
     *
     * @throws SQLFeatureNotSupportedException if the database is not supported; the message is its product and version
     * @throws SQLException if the database cannot be queried
     */
    public static Database of(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData metaData = connection.getMetaData();
            return of(metaData.getDatabaseProductName(), metaData.getDatabaseProductVersion());
        }
    }

    private static Database of(String product, String version) throws SQLException {
        String name = product.toLowerCase(Locale.ROOT);
        if (name.contains("mariadb") || version.toLowerCase(Locale.ROOT).contains("mariadb")) {
            return MARIADB;
        }
        return switch (name) {
            case "mysql" -> MYSQL;
            case "postgresql" -> POSTGRESQL;
            case "h2" -> H2;
            default -> throw new SQLFeatureNotSupportedException(product + " " + version);
        };
    }

    /**
     * Replaces three functions by SQL for the database's clock. {@code utc_now()} is a timestamp without time zone, in UTC whatever the
     * time zone of the session is. {@code utc_plus_millis(…)} adds a parameter or column to that, or to the column given before it.
     * {@code epoch_micros()} is the clock in microseconds since 1970.
     */
    public String withClock(String sql) {
        return PLUS_MILLIS
                .matcher(sql.replace("utc_now()", utcNow).replace("epoch_micros()", epochMicros))
                .replaceAll(call -> Matcher.quoteReplacement(plusMillis
                        .replace("?1", call.group(2))
                        .replace("?2", call.group(1) == null ? utcNow : call.group(1))));
    }

    /** Returns SQL to append to a select of one row, so that other transactions can read and share-lock the row, but not change it. */
    public String sharedRowLock() {
        return sharedRowLock;
    }

    /** Whether a locking read finds a row that another transaction has inserted but not committed, and waits for it. */
    public boolean locksUncommittedRows() {
        return this == MYSQL || this == MARIADB;
    }

    /** Whether an update can return the rows that it has changed. */
    public boolean returnsUpdatedRows() {
        return this == POSTGRESQL;
    }

    /**
     * Returns SQL for the schema in which the session finds a table by its unquoted name. The query gives no row, or null, if there is
     * none. The placeholder is that name.
     */
    public String schemaQuery() {
        return switch (this) {
            case MYSQL, MARIADB -> "select database(), ? limit 1";
            case POSTGRESQL ->
                "select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass(?)";
            case H2 ->
                "select t.TABLE_SCHEMA from INFORMATION_SCHEMA.TABLES t where t.TABLE_SCHEMA = schema()"
                        + " and lower(t.TABLE_NAME) = lower(?)"; // H2 stores names without quotes in upper case
        };
    }

    /** Returns a name in the database's quotes. */
    public String quoted(String name) {
        String quote = this == MYSQL || this == MARIADB ? "`" : "\"";
        return quote + name.replace(quote, quote + quote) + quote;
    }

    /** Whether an array can be a parameter. */
    public boolean hasArrays() {
        return this == POSTGRESQL;
    }

    /** Returns SQL that tells whether the session or its server rejects writes. */
    public String readOnlyQuery() {
        return switch (this) {
            case MYSQL -> "select @@session.transaction_read_only or @@global.read_only or @@global.innodb_read_only";
            // from 12.0 on, the second variable is a text, such as OFF
            case MARIADB ->
                "select @@session.tx_read_only or @@global.read_only not in ('0', 'OFF') or @@global.innodb_read_only";
            case POSTGRESQL -> "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean";
            case H2 -> "select readonly()";
        };
    }

    /**
     * Whether the server belongs to a multi-primary cluster (Galera, Group Replication), which certifies writes. Such a server does not
     * know the row locks of others: a transaction fails at commit if another server has <em>written</em> the same rows meanwhile. Rows that
     * were only locked are not compared.
     *
     * @throws SQLException if the server cannot be queried
     */
    public boolean certifiesWrites(DataSource dataSource) throws SQLException {
        if (this != MYSQL && this != MARIADB) {
            return false;
        }
        // the variables belong to modules that may be missing; reading them requires no privilege
        return query(
                dataSource,
                "show global variables where variable_name in ('wsrep_on', 'group_replication_group_name')",
                variables -> {
                    boolean on = false;
                    while (variables.next()) {
                        String value = variables.getString(2);
                        // the name of a group is a UUID, whether it has one primary or several
                        on |= value != null && !value.isEmpty() && !value.equalsIgnoreCase("OFF") && !value.equals("0");
                    }
                    return on;
                });
    }

    /**
     * Returns the driver option that would make grants wrong, as {@code name=value}; {@link #LOAD_BALANCING_URL} if the settings of
     * the library would stay in the host's sessions; empty if there is none.
     *
     * <p>{@code transactionReplay} repeats the statements of a transaction on another server, and discards their results, such as the sum
     * of held permits. With the other options, times lose their fraction, or are shifted by a time zone.
     *
     * @throws SQLException if the server cannot be queried
     */
    public Optional<String> unsuitableOption(DataSource dataSource) throws SQLException {
        if (this != MYSQL && this != MARIADB) {
            return Optional.empty();
        }
        LocalDateTime time = LocalDateTime.parse("2001-02-03T04:05:06.789123");
        String query = "select cast(? as datetime(6)) = timestamp '%1$s', timestamp '%1$s'"
                .formatted("2001-02-03 04:05:06.789123");
        try (Connection connection = dataSource.getConnection();
                Transaction ending = ending(connection);
                PreparedStatement statement = connection.prepareStatement(query)) {
            String url = connection.getMetaData().getURL();
            if (REPLAY.matcher(url).find()) {
                return Optional.of("transactionReplay=true");
            }
            if (LOAD_BALANCING.matcher(url).matches()) {
                return Optional.of(LOAD_BALANCING_URL);
            }
            statement.setObject(1, time);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1) && time.equals(row.getObject(2, LocalDateTime.class))
                        ? Optional.empty()
                        : Optional.of(
                                url.startsWith("jdbc:mariadb:")
                                        ? "pureLocalDateTime=false"
                                        : "sendFractionalSeconds=false");
            }
        }
    }

    /**
     * Executes a query on a connection of the host, and ends the transaction, unless auto-commit is on. Not every pool would end it; a
     * table would then stay locked against changes, and PostgreSQL would execute nothing after a failure.
     */
    public static <T> T query(DataSource dataSource, String sql, ResultSetExtractor<T> reader) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Transaction ending = ending(connection);
                Statement statement = AllRows.of(connection.createStatement());
                ResultSet rows = statement.executeQuery(sql)) {
            return reader.extractData(rows);
        }
    }

    private static Transaction ending(Connection connection) {
        return () -> {
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
        };
    }

    /** Ends the transaction after the statement is closed. As a resource of try, it adds its failure to an earlier one as suppressed. */
    private interface Transaction extends AutoCloseable {

        @Override
        void close() throws SQLException;
    }

    /**
     * Warns if a crash of the server may lose committed transactions: a lost grant can be given to someone else while its
     * holder is still working. Settings that cannot be read are ignored.
     */
    public void warnOfLostCommits(DataSource dataSource) {
        String settings = switch (this) {
            case MYSQL, MARIADB -> """
                show global variables where variable_name in
                    ('innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'binlog_storage_engine')""";
            // values that also wait for standby servers are durable on this server, too
            case POSTGRESQL -> """
                select 'fsync', current_setting('fsync') union all
                select 'synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'off' else 'on' end""";
            case H2 -> "";
        };
        if (settings.isEmpty()) {
            return;
        }
        Map<String, String> values = new HashMap<>();
        try {
            query(dataSource, settings, rows -> {
                while (rows.next()) {
                    values.put(rows.getString(1), rows.getString(2));
                }
                return true;
            });
        } catch (SQLException unable) {
            log.debug("The durability settings of the server cannot be read", unable);
        }
        lossySettings(values)
                .forEach(setting -> log.warn(
                        "The database of the semaphores runs with {}={}: {}. A lost grant can be given to another caller"
                                + " while its holder still works. Set it to {}, or use requireHeld in work that must not"
                                + " be done twice",
                        setting,
                        values.get(setting),
                        LOSSES.get(setting),
                        this == POSTGRESQL ? "on" : "1"));
    }

    /** Returns the settings with which a server may lose commits. */
    static Set<String> lossySettings(Map<String, String> values) {
        // a binary log in InnoDB (MariaDB 12.3) is as durable as the transactions, whatever sync_binlog is
        boolean synced =
                "ON".equals(values.get("log_bin")) && !"innodb".equalsIgnoreCase(values.get("binlog_storage_engine"));
        return values.keySet().stream()
                .filter(LOSSES::containsKey)
                .filter(setting -> !DURABLE.contains(values.get(setting)))
                .filter(setting -> synced || !setting.equals("sync_binlog"))
                .collect(Collectors.toSet());
    }
}
