package io.dbsemaphore.tools.faults.witness;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** Where the columns of a table are in a row of the log, which has no names. */
record RowColumns(String table, Map<String, Integer> positions) {

    static RowColumns of(Connection connection, String table) throws SQLException {
        Map<String, Integer> positions = new HashMap<>();
        try (ResultSet columns = connection.getMetaData().getColumns(connection.getCatalog(), null, table, "%")) {
            while (columns.next()) {
                positions.put(columns.getString("COLUMN_NAME"), columns.getInt("ORDINAL_POSITION") - 1);
            }
        }
        if (positions.isEmpty()) {
            throw new SQLException("No table " + table);
        }
        return new RowColumns(table, positions);
    }

    long number(Serializable[] row, String column) {
        return ((Number) value(row, column)).longValue();
    }

    String text(Serializable[] row, String column) {
        Serializable value = value(row, column);
        return value instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : value.toString();
    }

    private Serializable value(Serializable[] row, String column) {
        Integer position = positions.get(column);
        if (position == null) {
            throw new IllegalStateException("No column " + table + "." + column);
        }
        return row[position];
    }
}
