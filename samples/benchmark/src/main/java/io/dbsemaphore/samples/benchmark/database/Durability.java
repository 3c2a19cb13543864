package io.dbsemaphore.samples.benchmark.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * How durable a commit is on this server: without it, pairs per second mean nothing.
 *
 * @param product the name and the version that the driver gives
 * @param settings what the server says
 */
public record Durability(String product, Map<String, String> settings) {

    /** Asks the server. */
    public static Durability of(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            Vendor vendor = Vendor.of(connection);
            Map<String, String> settings = new LinkedHashMap<>();
            for (String setting : vendor.durability()) {
                try (ResultSet value = statement.executeQuery(vendor.settingQuery(setting))) {
                    settings.put(setting, value.next() ? value.getString(1) : "default");
                }
            }
            return new Durability(
                    connection.getMetaData().getDatabaseProductName() + " "
                            + connection.getMetaData().getDatabaseProductVersion(),
                    settings);
        }
    }

    /** Whether a setting was found that lets the server forget a commit. */
    public boolean isRelaxed() {
        return !settings.getOrDefault("innodb_flush_log_at_trx_commit", "1").equals("1")
                || ("1".equals(settings.get("log_bin"))
                        && !settings.getOrDefault("sync_binlog", "1").equals("1"))
                || settings.getOrDefault("synchronous_commit", "on").equals("off")
                || settings.getOrDefault("fsync", "on").equals("off");
    }

    @Override
    public String toString() {
        return product + ", "
                + settings.entrySet().stream()
                        .map(setting -> setting.getKey() + "=" + setting.getValue())
                        .collect(Collectors.joining(", "));
    }
}
