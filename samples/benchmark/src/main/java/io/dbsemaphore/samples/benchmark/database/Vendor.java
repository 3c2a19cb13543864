package io.dbsemaphore.samples.benchmark.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** What differs between databases. */
public enum Vendor {
    MYSQL(
            "start transaction with consistent snapshot",
            List.of("version", "innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite"),
            "select @@%s"),
    MARIADB(
            "start transaction with consistent snapshot",
            List.of("version", "innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite"),
            "select @@%s"),
    POSTGRESQL(
            "select count(*) from information_schema.tables",
            List.of("server_version", "synchronous_commit", "fsync"),
            "show %s"),
    H2("select count(*) from information_schema.tables", List.of("WRITE_DELAY"), """
                    select setting_value from information_schema.settings where setting_name = '%s'""");

    private final String snapshot;
    private final List<String> durability;
    private final String settingQuery;

    Vendor(String snapshot, List<String> durability, String settingQuery) {
        this.snapshot = snapshot;
        this.durability = durability;
        this.settingQuery = settingQuery;
    }

    /** The product of this connection. */
    public static Vendor of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return valueOf(product.toUpperCase(Locale.ROOT));
    }

    /** What makes a transaction at REPEATABLE READ take its snapshot. */
    public String snapshot() {
        return snapshot;
    }

    /** The settings that say how durable a commit is. */
    public List<String> durability() {
        return durability;
    }

    /** The query for one setting. */
    public String settingQuery(String setting) {
        return settingQuery.formatted(setting);
    }
}
