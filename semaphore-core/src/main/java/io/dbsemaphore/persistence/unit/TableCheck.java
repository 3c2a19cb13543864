package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import jakarta.persistence.Column;
import jakarta.persistence.Table;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;

/**
 * Checks the tables at startup. Every start executes a few statements that match no row. The columns are compared with those of the
 * entities only after a failure, or if the library may create its tables.
 */
public final class TableCheck {

    /**
     * A table that lacks columns.
     *
     * @param exists false if the whole table is missing
     * @param foreign whether the table exists but lacks at least half of the columns, so that it probably belongs to another
     *     application
     */
    public record Mismatch(String table, List<String> missingColumns, boolean exists, boolean foreign) {}

    private TableCheck() {}

    /**
     * Executes statements that match no row on all columns of all tables, one for each privilege that acquires, releases and heartbeats
     * need, so that a missing privilege fails the start instead of the first acquire. Requires an open transaction.
     */
    public static void touch(Sql sql, Collection<Class<?>> entities) {
        for (Class<?> entity : entities) {
            String table = entity.getAnnotation(Table.class).name();
            String privileges = TableName.valueOf(table.toUpperCase(Locale.ROOT)).privileges;
            List<String> columns = columnsOf(entity);
            touch(
                    sql,
                    "insert into %s(%s) select %2$s from %1$s where 1 = 0"
                            .formatted(table, String.join(", ", columns)));
            if (privileges.contains("update")) {
                touch(sql, "update %s set %s = %2$s where 1 = 0".formatted(table, columns.get(0)));
            }
            if (privileges.contains("delete")) { // by key: with sql_safe_updates, MariaDB rejects other deletes
                touch(sql, "delete from %s where %s = 0".formatted(table, columns.get(0)));
            }
        }
    }

    private static void touch(Sql sql, String statement) {
        sql.update(statement);
        sql.flush(); // each alone: a firewall that rejects several statements at once must not fail the start
    }

    /**
     * Whether tables or columns are missing, and the library's SQL script can add them. False if one of the tables belongs to another
     * application.
     */
    public static boolean isIncomplete(DataSource dataSource, Collection<Class<?>> entities, String tablePrefix)
            throws SQLException {
        List<Mismatch> mismatches = mismatches(dataSource, entities, tablePrefix);
        return !mismatches.isEmpty() && mismatches.stream().noneMatch(Mismatch::foreign);
    }

    /**
     * Finds an existing table that lacks columns, preferably one of another application; empty if there is none, or a table cannot be read.
     */
    public static Optional<Mismatch> find(DataSource dataSource, Collection<Class<?>> entities, String tablePrefix) {
        try {
            return mismatches(dataSource, entities, tablePrefix).stream()
                    .filter(Mismatch::exists)
                    .max(Comparator.comparing(Mismatch::foreign));
        } catch (SQLException unreadable) {
            return Optional.empty();
        }
    }

    private static List<Mismatch> mismatches(DataSource dataSource, Collection<Class<?>> entities, String tablePrefix)
            throws SQLException {
        List<Mismatch> mismatches = new ArrayList<>();
        for (Class<?> entity : entities) {
            String table = tablePrefix + entity.getAnnotation(Table.class).name();
            Set<String> existing = columnsOf(dataSource, table);
            List<String> expected = columnsOf(entity);
            List<String> missing = new ArrayList<>(expected);
            missing.removeAll(existing);
            if (!missing.isEmpty()) {
                boolean exists = !existing.isEmpty();
                boolean foreign = exists && missing.size() * 2 >= expected.size();
                mismatches.add(new Mismatch(table, missing, exists, foreign));
            }
        }
        return mismatches;
    }

    static List<String> columnsOf(Class<?> entity) {
        return Arrays.stream(entity.getDeclaredFields())
                .filter(field -> field.isAnnotationPresent(Column.class))
                .map(field -> field.getAnnotation(Column.class).name())
                .toList();
    }

    /** Reads the columns of a table; empty if the table does not exist. */
    private static Set<String> columnsOf(DataSource dataSource, String table) throws SQLException {
        try {
            return Database.query(dataSource, "select * from " + table + " where 1 = 0", none -> {
                Set<String> columns = new TreeSet<>();
                for (int i = 1; i <= none.getMetaData().getColumnCount(); i++) {
                    columns.add(none.getMetaData().getColumnName(i).toLowerCase(Locale.ROOT));
                }
                return columns;
            });
        } catch (SQLException failure) {
            if (!SqlErrors.is(failure, SqlErrorKind.MISSING_TABLE)) {
                throw failure;
            }
            return Set.of();
        }
    }
}
