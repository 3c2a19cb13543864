package io.dbsemaphore.tools.faults.witness;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.EventType;
import com.github.shyiko.mysql.binlog.event.TableMapEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.oracle.Findings;
import java.io.IOException;
import java.io.Serializable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;

/** Reads the binary log of a MySQL or MariaDB from a position to its end, and replays what it says about permits. */
final class BinaryLog implements CommitLog {

    private final DatabaseServer server;
    private final String file;
    private final long position;
    private final String database;
    private final RowColumns permit;
    private final RowColumns semaphore;
    private final Map<Long, String> tables = new HashMap<>();

    private BinaryLog(DatabaseServer server, Connection connection, String prefix) throws SQLException {
        this.server = server;
        database = connection.getCatalog();
        permit = RowColumns.of(connection, prefix + "permit");
        semaphore = RowColumns.of(connection, prefix + "semaphore");
        try (Statement statement = connection.createStatement();
                ResultSet status =
                        statement.executeQuery(server.isMySql() ? "show binary log status" : "show binlog status")) {
            if (!status.next()) {
                throw new SQLException("The server writes no binary log");
            }
            file = status.getString(1);
            position = status.getLong(2);
        }
    }

    static BinaryLog from(DatabaseServer server, String prefix) throws SQLException {
        try (Connection connection = server.connect()) {
            return new BinaryLog(server, connection, prefix);
        }
    }

    @Override
    public long replay(Map<String, Integer> capacities, Findings findings) throws IOException {
        HeldPermits held = new HeldPermits(capacities, findings);
        BinaryLogClient client = new BinaryLogClient(
                server.address().getHostString(), server.address().getPort(), server.user(), server.password());
        client.setServerId(4_000_000_000L);
        client.setBinlogFilename(file);
        client.setBinlogPosition(position);
        client.setBlocking(false);
        client.setKeepAlive(false);
        client.registerEventListener(event -> apply(event, held, client));
        client.connect();
        return held.commits();
    }

    private void apply(Event event, HeldPermits held, BinaryLogClient client) {
        EventData data = event.getData();
        if (data instanceof TableMapEventData map) {
            tables.put(map.getTableId(), map.getDatabase().equals(database) ? map.getTable() : "");
        } else if (data instanceof WriteRowsEventData write) {
            write.getRows().forEach(row -> add(table(write.getTableId()), row, held));
        } else if (data instanceof DeleteRowsEventData delete) {
            delete.getRows().forEach(row -> remove(table(delete.getTableId()), row, held));
        } else if (data instanceof UpdateRowsEventData update) {
            for (Map.Entry<Serializable[], Serializable[]> row : update.getRows()) {
                remove(table(update.getTableId()), row.getKey(), held);
                add(table(update.getTableId()), row.getValue(), held);
            }
        } else if (event.getHeader().getEventType() == EventType.XID) {
            held.committed(client.getBinlogFilename() + ":" + client.getBinlogPosition());
        }
    }

    private String table(long id) {
        return tables.getOrDefault(id, "");
    }

    private void add(String table, Serializable[] row, HeldPermits held) {
        if (table.equals(permit.table())) {
            held.added(permit.number(row, "semaphore_id"), permit.number(row, "count"), permit.text(row, "state"));
        } else if (table.equals(semaphore.table())) {
            held.semaphore(
                    semaphore.number(row, "id"), semaphore.text(row, "name"), (int) semaphore.number(row, "capacity"));
        }
    }

    private void remove(String table, Serializable[] row, HeldPermits held) {
        if (table.equals(permit.table())) {
            held.removed(permit.number(row, "semaphore_id"), permit.number(row, "count"), permit.text(row, "state"));
        }
    }
}
