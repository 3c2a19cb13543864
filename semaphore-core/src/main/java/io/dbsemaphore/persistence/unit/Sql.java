package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.StatementQueue;
import io.dbsemaphore.jdbc.StatementQueue.Reader;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import jakarta.persistence.EntityManager;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import org.hibernate.Session;
import org.hibernate.engine.spi.SharedSessionContractImplementor;

/**
 * SQL on the connection of the current transaction, for statements whose text depends on how many rows they are for. In HQL
 * each number of rows would be another query to translate, and a JDBC batch is a round trip for each row with some drivers.
 */
public final class Sql {

    private final EntityManager entityManager;

    /** Works on the transactions of this entity manager. */
    public Sql(EntityManager entityManager) {
        this.entityManager = entityManager;
    }

    /** Queues a query for the next round trip of the transaction. */
    public <T> Result<T> query(String sql, Collection<?> values, Reader<T> reader) {
        LibrarySqlLogger.log(sql);
        return queue().query(sql, values, reader);
    }

    /** Queues a write for the next round trip of the transaction; the commit at the latest. */
    public Result<Integer> update(String sql, Collection<?> values) {
        LibrarySqlLogger.log(sql);
        return queue().update(sql, values);
    }

    /** The statements of the transaction that wait for its next round trip. */
    public StatementQueue queue() {
        return entityManager
                .unwrap(Session.class)
                .doReturningWork(connection -> connection.unwrap(StatementQueue.class));
    }

    /** A failure of the {@linkplain #queue queue} as Hibernate throws it. */
    public RuntimeException failed(SQLException failure) {
        return entityManager
                .unwrap(SharedSessionContractImplementor.class)
                .getJdbcServices()
                .getSqlExceptionHelper()
                .convert(failure, "A statement of the semaphores failed");
    }

    /** The same part so many times. */
    public static String repeat(String part, String separator, int times) {
        return String.join(separator, Collections.nCopies(times, part));
    }

    /** As many placeholders as there are values, in parentheses. */
    public static String placeholders(Collection<?> values) {
        return "(" + repeat("?", ", ", values.size()) + ")";
    }
}
