package io.dbsemaphore.persistence.unit;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What the statements on requests and those on permits have in common. Locks never wait for one of another transaction.
 *
 * @param <E> the entity of the rows
 */
public abstract class HeldRows<E> {

    protected final Sql sql;
    protected final String table;
    private final RowInsert<E> insert;

    protected HeldRows(Sql sql, RowInsert<E> insert, String table) {
        this.sql = sql;
        this.insert = insert;
        this.table = table;
    }

    /** Executes the queued statements. */
    public void sendQueued() {
        sql.flush();
    }

    public void insertAll(List<E> rows) {
        insert.insertAll(rows);
    }

    /** Locks the rows that no other transaction has locked, and returns their ids. */
    public Set<Long> lockSkipLocked(Collection<Long> ids) {
        Supplier<Set<Long>> locked = sql.query("select " + held(ids) + " for update skip locked", ids, HeldRows::ids);
        sql.flush();
        return locked.get();
    }

    /**
     * Queues a lock of all the rows, which fails immediately if another transaction has locked one. The hint makes MySQL
     * use the primary key: for a small table it otherwise scans all rows, and encounters locks on other rows.
     */
    public Supplier<Set<Long>> queueLock(Collection<Long> ids) {
        return sql.query(
                "select /*+ index(" + table + " primary) */ " + held(ids) + " for update nowait", ids, HeldRows::ids);
    }

    private String held(Collection<Long> ids) {
        return "id from " + table + " where id in " + Sql.placeholders(ids) + " and state = 'ACQUIRED' order by id";
    }

    /** The ids in the first column. */
    protected static Set<Long> ids(ResultSet rows) throws SQLException {
        Set<Long> ids = new HashSet<>();
        while (rows.next()) {
            ids.add(rows.getLong(1));
        }
        return ids;
    }
}
