package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.StatementQueue;
import io.dbsemaphore.jdbc.StatementQueue.Reader;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import jakarta.persistence.EntityManager;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import org.hibernate.Session;

/**
 * SQL on the connection of the transaction, for statements whose text depends on how many rows they are for: one round trip
 * whatever the driver makes of JDBC batches. In HQL each number of rows would be another query to translate.
 */
public final class Sql {

    @FunctionalInterface
    private interface Work<T> {

        T run(StatementQueue queue) throws SQLException;
    }

    private final EntityManager entityManager;

    public Sql(EntityManager entityManager) {
        this.entityManager = entityManager;
    }

    /** Executes what is queued and this. */
    public <T> T query(String sql, Collection<?> values, Reader<T> reader) {
        Result<T> result = queueQuery(sql, values, reader);
        flush();
        return result.get();
    }

    /** Executes it by the next round trip of the transaction. */
    public <T> Result<T> queueQuery(String sql, Collection<?> values, Reader<T> reader) {
        LibrarySqlLogger.log(sql);
        return onQueue(queue -> queue.query(sql, values, reader));
    }

    /** Executes it by the next round trip of the transaction; the commit at the latest. */
    public Result<Integer> queueUpdate(String sql, Collection<?> values) {
        LibrarySqlLogger.log(sql);
        return onQueue(queue -> queue.update(sql, values));
    }

    /** Executes what is queued. */
    public void flush() {
        onQueue(queue -> {
            queue.flush();
            return queue;
        });
    }

    /** Whether it takes one round trip for all that is queued, and not one for each statement. */
    public boolean isOneRoundTrip() {
        return onQueue(StatementQueue::isOneRoundTrip);
    }

    /** The same part so many times. */
    public static String repeat(String part, String separator, int times) {
        return String.join(separator, Collections.nCopies(times, part));
    }

    /** As many placeholders as there are values, in parentheses. */
    public static String placeholders(Collection<?> values) {
        return "(" + repeat("?", ", ", values.size()) + ")";
    }

    private <T> T onQueue(Work<T> work) {
        return entityManager
                .unwrap(Session.class)
                .doReturningWork(connection -> work.run(connection.unwrap(StatementQueue.class)));
    }
}
