package io.dbsemaphore.persistence;

import jakarta.persistence.EntityManager;
import jakarta.persistence.Query;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.hibernate.Session;
import org.jspecify.annotations.Nullable;

/**
 * SQL on the connection of the transaction, for statements whose text depends on how many rows they are for: one round trip
 * whatever the driver makes of JDBC batches. In HQL each number of rows would be another query to translate.
 */
final class Sql {

    /** Reads what a query returned. */
    @FunctionalInterface
    interface Reader<T> {

        T read(ResultSet rows) throws SQLException;
    }

    @FunctionalInterface
    private interface Work<T> {

        T run(Connection connection) throws SQLException;
    }

    private final EntityManager entityManager;

    Sql(EntityManager entityManager) {
        this.entityManager = entityManager;
    }

    <T> T query(String sql, Collection<?> values, Reader<T> reader) {
        return onConnection(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                bind(statement, values);
                try (ResultSet rows = statement.executeQuery()) {
                    return reader.read(rows);
                }
            }
        });
    }

    /** Entities, from a query that has all their columns. */
    @SuppressWarnings("unchecked")
    <E> List<E> entities(String sql, Collection<?> values, Class<E> type) {
        Query query = entityManager.createNativeQuery(sql, type);
        int index = 1;
        for (@Nullable Object value : values) {
            query.setParameter(index++, value);
        }
        return query.getResultList();
    }

    int update(String sql, Collection<?> values) {
        return onConnection(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                bind(statement, values);
                return statement.executeUpdate();
            }
        });
    }

    /** The same part so many times. */
    static String repeat(String part, String separator, int times) {
        return String.join(separator, Collections.nCopies(times, part));
    }

    /** As many placeholders as there are values, in parentheses. */
    static String placeholders(Collection<?> values) {
        return "(" + repeat("?", ", ", values.size()) + ")";
    }

    private static void bind(PreparedStatement statement, Collection<?> values) throws SQLException {
        int index = 1;
        for (@Nullable Object value : values) {
            statement.setObject(index++, value);
        }
    }

    private <T> T onConnection(Work<T> work) {
        return entityManager.unwrap(Session.class).doReturningWork(work::run);
    }
}
