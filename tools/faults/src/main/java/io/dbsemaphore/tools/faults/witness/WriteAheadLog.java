package io.dbsemaphore.tools.faults.witness;

import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.oracle.Findings;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;

/**
 * Reads the write-ahead log of a PostgreSQL by logical decoding, and replays what it says about permits. The server keeps the log
 * for a replication slot, which also survives its crashes. It needs {@code wal_level=logical}, and a user with {@code REPLICATION}.
 */
final class WriteAheadLog implements CommitLog {

    private static final String SLOT = "faults";
    private static final int CHANGES = 50_000;

    private final DatabaseServer server;
    private final String prefix;

    private WriteAheadLog(DatabaseServer server, String prefix) {
        this.server = server;
        this.prefix = prefix;
    }

    static WriteAheadLog from(DatabaseServer server, String prefix) throws SQLException {
        try (Connection connection = server.connect()) {
            dropSlot(connection);
            run(connection, "select pg_create_logical_replication_slot('" + SLOT + "', 'test_decoding')");
            return new WriteAheadLog(server, prefix);
        }
    }

    @Override
    public long replay(Map<String, Integer> capacities, Findings findings) throws SQLException {
        HeldPermits held = new HeldPermits(capacities, findings);
        DecodedRows rows = new DecodedRows(held);
        try (Connection connection = server.connect()) {
            while (replaySome(connection, rows)) {
                // The next changes
            }
            dropSlot(connection);
        }
        return held.commits();
    }

    /** Consumes whole transactions, and returns whether there were any. */
    private boolean replaySome(Connection connection, DecodedRows rows) throws SQLException {
        String permits = "table public." + prefix + "permit: ";
        String semaphores = "table public." + prefix + "semaphore: ";
        String query =
                "select lsn, data from pg_logical_slot_get_changes('%s', null, ?, 'include-xids', '0')".formatted(SLOT);
        boolean any = false;
        try (PreparedStatement changes = connection.prepareStatement(query)) {
            changes.setInt(1, CHANGES);
            try (ResultSet result = changes.executeQuery()) {
                while (result.next()) {
                    any = true;
                    String change = result.getString(2);
                    if (change.startsWith(permits)) {
                        rows.permit(change.substring(permits.length()));
                    } else if (change.startsWith(semaphores)) {
                        rows.semaphore(change.substring(semaphores.length()));
                    } else if (change.equals("COMMIT")) {
                        rows.committed(result.getString(1));
                    }
                }
            }
        }
        return any;
    }

    private static void dropSlot(Connection connection) throws SQLException {
        run(
                connection,
                "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '" + SLOT
                        + "'");
    }

    private static void run(Connection connection, String query) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.execute();
        }
    }
}
