package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns if the server may lose transactions that it has committed: a grant that is lost can be made again while its
 * holder is still working.
 */
public final class Durability {

    private static final Logger log = LoggerFactory.getLogger(Durability.class);

    private Durability() {}

    /** A setting of the server, its durable value, and what may be lost with another value. */
    private record Setting(String name, String durable, String loss) {}

    private static final Setting SYNC_BINLOG = new Setting(
            "sync_binlog",
            "1",
            "after a crash of the server its replicas, one of which may become the primary, may lack the last commits");
    private static final Setting FLUSH_LOG = new Setting(
            "innodb_flush_log_at_trx_commit", "1", "a crash of the server may lose up to a second of commits");
    private static final Setting SYNCHRONOUS_COMMIT =
            new Setting("synchronous_commit", "on", "a crash of the server may lose the last commits");
    private static final Setting FSYNC =
            new Setting("fsync", "on", "a crash of the machine may lose commits and corrupt the database");

    /**
     * Reads the settings with one query, and warns of each that is not durable. Settings that cannot be read are
     * ignored.
     */
    public static void warn(DataSource dataSource, Database database) {
        String query = switch (database) {
            case MYSQL, MARIADB ->
                "select @@global.innodb_flush_log_at_trx_commit, case when @@global.log_bin then @@global.sync_binlog end";
            case POSTGRESQL -> "select current_setting('fsync'), current_setting('synchronous_commit')";
            case H2 -> null;
        };
        if (query == null) {
            return;
        }
        try (Connection connection = dataSource.getConnection()) {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(query)) {
                row.next();
                boolean postgresql = database == Database.POSTGRESQL;
                check(postgresql ? FSYNC : FLUSH_LOG, row.getString(1));
                check(postgresql ? SYNCHRONOUS_COMMIT : SYNC_BINLOG, row.getString(2));
            } finally {
                if (!connection.getAutoCommit()) {
                    connection.rollback(); // not every data source ends the transaction of a query
                }
            }
        } catch (SQLException unable) {
            log.debug("The durability settings of the server cannot be read", unable);
        }
    }

    private static void check(Setting setting, @Nullable String value) {
        boolean lasting = value == null
                || value.equals(setting.durable)
                // values that also wait for standby servers are durable on this server, too
                || (setting.equals(SYNCHRONOUS_COMMIT) && !value.equals("off"));
        if (!lasting) {
            log.warn(
                    "The database of the semaphores runs with {}={}: {}. Grants that are lost with them can be made again"
                            + " while their holders are still working. Set it to {}, or use requireHeld in work that must"
                            + " not be done twice",
                    setting.name,
                    value,
                    setting.loss,
                    setting.durable);
        }
    }
}
