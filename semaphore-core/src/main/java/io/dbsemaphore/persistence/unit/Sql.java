package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.StatementQueue;
import jakarta.persistence.EntityManager;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import java.util.function.Supplier;
import org.hibernate.Session;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * SQL on the connection of the current transaction, for statements whose text depends on the number of rows. In HQL each
 * number of rows would be another query to translate, and a JDBC batch takes one round trip per row with some drivers.
 */
public final class Sql {

    private final EntityManager entityManager;

    public Sql(EntityManager entityManager) {
        this.entityManager = entityManager;
    }

    /** Queues a query for the next round trip of the transaction. */
    public <T> Supplier<T> query(String sql, Collection<?> values, ResultSetExtractor<T> reader) {
        LibrarySqlLogger.log(sql);
        return queue().query(sql, values, reader);
    }

    /** Queues an update for the next round trip of the transaction, at the latest its commit. */
    public Supplier<Integer> update(String sql, Collection<?> values) {
        LibrarySqlLogger.log(sql);
        return queue().update(sql, values);
    }

    /** The statements that are queued for the next round trip of the transaction. */
    public StatementQueue queue() {
        return entityManager
                .unwrap(Session.class)
                .doReturningWork(connection -> connection.unwrap(StatementQueue.class));
    }

    /** Executes the queued statements. */
    public void flush() {
        try {
            queue().flush();
        } catch (SQLException failure) {
            throw failed(failure);
        }
    }

    /** Converts a failure of the {@linkplain #queue queue} as Hibernate does. */
    public RuntimeException failed(SQLException failure) {
        return entityManager
                .unwrap(SharedSessionContractImplementor.class)
                .getJdbcServices()
                .getSqlExceptionHelper()
                .convert(failure, "A statement of the semaphores failed");
    }

    public static String repeat(String part, String separator, int times) {
        return String.join(separator, Collections.nCopies(times, part));
    }

    /** One placeholder for each value, in parentheses. */
    public static String placeholders(Collection<?> values) {
        return "(" + repeat("?", ", ", values.size()) + ")";
    }
}
