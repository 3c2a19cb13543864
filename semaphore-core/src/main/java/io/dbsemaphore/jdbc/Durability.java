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
 * Warns where the server may forget what it has committed: a grant that is forgotten can be granted once more while its
 * holder works.
 */
public final class Durability {

    private static final Logger log = LoggerFactory.getLogger(Durability.class);

    private Durability() {}

    /** A setting of a server, the value by which commits last, and what another value can lose. */
    private record Setting(String name, String durable, String loss) {}

    private static final Setting SYNC_BINLOG = new Setting(
            "sync_binlog",
            "1",
            "a crash of the server may forget the last commits on its replicas, one of which may be the next primary");
    private static final Setting FLUSH_LOG = new Setting(
            "innodb_flush_log_at_trx_commit", "1", "a crash of the server may forget up to a second of commits");
    private static final Setting SYNCHRONOUS_COMMIT =
            new Setting("synchronous_commit", "on", "a crash of the server may forget the last commits");
    private static final Setting FSYNC =
            new Setting("fsync", "on", "a crash of its machine may forget commits and damage the database");

    /** Asks by one query, and warns of each setting. What cannot be asked is passed over. */
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
                    connection.rollback(); // not every data source ends what a query has begun
                }
            }
        } catch (SQLException unable) {
            log.debug("How durable commits are cannot be asked", unable);
        }
    }

    private static void check(Setting setting, @Nullable String value) {
        boolean lasting = value == null
                || value.equals(setting.durable)
                // a commit that also waits for standby servers lasts on this one, too
                || (setting == SYNCHRONOUS_COMMIT && !value.equals("off"));
        if (!lasting) {
            log.warn(
                    "The database of the semaphores runs with {}={}: {}. What was granted then is forgotten with them, and"
                            + " can be granted again while its holder works. Set it to {}, or do what must not happen twice"
                            + " under requireHeld",
                    setting.name,
                    value,
                    setting.loss,
                    setting.durable);
        }
    }
}
