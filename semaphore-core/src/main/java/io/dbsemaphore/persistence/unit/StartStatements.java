package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.jdbc.Database;
import jakarta.persistence.Table;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.RowMapperResultSetExtractor;

/**
 * The statements that an application needs while it starts. Plain SQL: the first repository and the first HQL queries of a JVM take
 * half a second of CPU time, while the application itself is starting. All require an open transaction.
 */
public final class StartStatements {

    private final Sql sql;
    private final Database database;
    private final String tablePrefix;
    private final List<Class<?>> entities;
    private final String statuses;

    /** A reading of the database's clock, in UTC. */
    public record Clock(LocalDateTime now, long epochMicros) {}

    public StartStatements(Sql sql, Database database, String tablePrefix, List<Class<?>> entities) {
        this.entities = entities;
        this.sql = sql;
        this.database = database;
        this.tablePrefix = tablePrefix;
        statuses = """
                select s.name, s.capacity, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), count(p.id),
                    (select coalesce(sum(w.waiting), 0) from %1$ssemaphore_waiter w
                     where w.semaphore_id = s.id and w.expires_at > %2$s)
                from %1$ssemaphore s left join %1$spermit p on p.semaphore_id = s.id and p.state = 'ACQUIRED'
                """.formatted(tablePrefix, database.utcNow());
    }

    /**
     * Executes statements without a row on all columns of all tables, one for each privilege that acquires, releases and heartbeats
     * need: without one of these, the start fails, and not the first acquire.
     */
    public void touchTables() {
        for (Class<?> entity : entities) {
            String name = entity.getAnnotation(Table.class).name();
            List<String> names = TableCheck.columnsOf(entity);
            String columns = String.join(", ", names);
            touch("insert into %s (%s) select %s from %1$s where 1 = 0", name, columns, columns);
            if (!name.equals("capacity_change")) { // only ever added to
                touch("update %s set %s = %2$s where 1 = 0", name, names.get(0));
            }
        }
        touch("delete from %s where 1 = 0", "semaphore_waiter");
    }

    private void touch(String statement, String table, Object... columns) {
        sql.update(
                statement.formatted(Stream.concat(Stream.of(tablePrefix + table), Stream.of(columns))
                        .toArray()),
                List.of());
        sql.flush(); // one by one: a firewall that rejects several statements at once must not fail the start
    }

    /** The status of a semaphore. */
    public Optional<SemaphoreStatus> findStatus(String name) {
        return read(
                        statuses + "where s.name = ? group by s.id, s.name, s.capacity",
                        List.of(name),
                        StartStatements::status)
                .stream()
                .findFirst();
    }

    /** The status of all semaphores, sorted by name. */
    public List<SemaphoreStatus> findStatuses() {
        return read(statuses + "group by s.id, s.name, s.capacity order by s.name", List.of(), StartStatements::status);
    }

    /** Reads the database's clock. */
    public Clock clock() {
        return read(
                        "select " + database.utcNow() + ", " + database.epochMicros(),
                        List.of(),
                        (row, number) -> new Clock(row.getObject(1, LocalDateTime.class), row.getLong(2)))
                .get(0);
    }

    /** Inserts rows. */
    public <E> void insertAll(RowInsert<E> insert, List<E> rows) {
        insert.insertAll(rows);
        sql.flush();
    }

    private <T> List<T> read(String query, List<String> values, RowMapper<T> mapper) {
        Supplier<List<T>> rows = sql.query(query, values, new RowMapperResultSetExtractor<>(mapper));
        sql.flush();
        return rows.get();
    }

    private static SemaphoreStatus status(ResultSet row, int number) throws SQLException {
        int capacity = row.getInt(2);
        long held = row.getLong(3);
        boolean exclusive = row.getInt(4) > 0;
        return new SemaphoreStatus(
                row.getString(1),
                capacity,
                held,
                exclusive ? 0 : Math.max(0, capacity - held),
                row.getLong(5),
                row.getLong(6));
    }
}
