package io.dbsemaphore.tools.benchmark;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * A database server and how durable a commit is on it. Pairs per second of servers that differ in durability cannot be
 * compared.
 *
 * @param product its name and version, as the driver reports them
 * @param durability the settings that decide on it
 * @param counters whether it counts commits and statements, and the user may read these counters
 */
record Server(String product, String durability, Counters counters) {

    enum Counters {
        NONE,
        DENIED,
        READABLE
    }

    private static final List<String> TABLES_OF_COUNTERS =
            List.of(ServerWork.Meter.TABLE_OF_MYSQL, SentStatements.TABLE_OF_MYSQL);

    private static final String INNODB_SETTINGS = """
            select concat('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit,
            ', log_bin=', @@log_bin, ', sync_binlog=', @@sync_binlog, ', innodb_doublewrite=', @@innodb_doublewrite)""";
    private static final String POSTGRESQL_SETTINGS = """
            select concat('synchronous_commit=', current_setting('synchronous_commit'),
            ', fsync=', current_setting('fsync'))""";
    private static final Pattern RELAXED = Pattern.compile(
            "innodb_flush_log_at_trx_commit=[02]" + "|log_bin=1, sync_binlog=(?!1,)|(synchronous_commit|fsync)=off");

    /** Asks the server. */
    static Server of(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            String name = connection.getMetaData().getDatabaseProductName();
            String query = hasInnoDb(name) ? INNODB_SETTINGS : POSTGRESQL_SETTINGS;
            try (ResultSet settings = statement.executeQuery(query)) {
                settings.next();
                return new Server(
                        name + " " + connection.getMetaData().getDatabaseProductVersion(),
                        settings.getString(1),
                        name.equals("MySQL") ? countersOfMySql(connection) : Counters.NONE);
            }
        }
    }

    private static Counters countersOfMySql(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String table : TABLES_OF_COUNTERS) {
                statement.executeQuery("select 1 from " + table + " limit 1").close();
            }
            return Counters.READABLE;
        } catch (SQLSyntaxErrorException denied) {
            return Counters.DENIED;
        }
    }

    /** Whether a setting lets the server forget a commit. */
    boolean isRelaxed() {
        return RELAXED.matcher(durability).find();
    }

    /** Whether the server says how many transactions have written, and how many statements of a kind it has received. */
    boolean hasCounters() {
        return counters == Counters.READABLE;
    }

    /** Whether it would say so to a user with more privileges. */
    boolean deniesCounters() {
        return counters == Counters.DENIED;
    }

    /** Opens a transaction that reads as of now until it is closed. */
    static AutoCloseable openSnapshot(DataSource dataSource) throws SQLException {
        Connection connection = dataSource.getConnection();
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    hasInnoDb(connection.getMetaData().getDatabaseProductName())
                            ? "start transaction with consistent snapshot"
                            : "select count(*) from information_schema.tables");
        }
        return () -> {
            connection.rollback();
            connection.close();
        };
    }

    @Override
    public String toString() {
        return product + ", " + durability;
    }

    private static boolean hasInnoDb(String product) {
        return product.equals("MySQL") || product.equals("MariaDB");
    }
}
