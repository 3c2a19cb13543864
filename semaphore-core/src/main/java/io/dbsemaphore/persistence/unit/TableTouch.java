package io.dbsemaphore.persistence.unit;

import jakarta.persistence.Table;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/**
 * Finds missing tables and columns, and a read-only server, when an instance starts. Plain SQL: to translate a query for each
 * table would be most of the CPU time of the start.
 */
public final class TableTouch {

    private final ShortTransaction transaction;
    private final Sql sql;
    private final String tablePrefix;

    public TableTouch(ShortTransaction transaction, Sql sql, String tablePrefix) {
        this.transaction = transaction;
        this.sql = sql;
        this.tablePrefix = tablePrefix;
    }

    /** Selects all columns of the entities, without rows, and executes an update that matches no row. */
    public void touch(Collection<Class<?>> entities) {
        transaction.execute(() -> {
            entities.forEach(entity -> sql.query(
                    "select " + String.join(", ", TableCheck.columnsOf(entity)) + " from " + tablePrefix
                            + entity.getAnnotation(Table.class).name() + " where 1 = 0",
                    List.of(),
                    rows -> false));
            sql.update("update " + tablePrefix + "semaphore set capacity = 0 where id = ?", List.of(0L));
            try {
                sql.queue().flush();
            } catch (SQLException failure) {
                throw sql.failed(failure);
            }
            return null;
        });
    }
}
