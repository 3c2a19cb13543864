package io.dbsemaphore.persistence;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.jdbc.SqlErrors;
import jakarta.persistence.PersistenceException;
import java.sql.SQLException;
import java.util.Optional;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.UncategorizedDataAccessException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.TransactionException;

/**
 * Turns what JPA and transactions throw into Spring's {@link DataAccessException}s. Repositories that are made without a
 * container do not, and a failed begin or commit is no such exception either.
 */
final class DataAccessFailures {

    private static final SQLExceptionTranslator SQL = new SQLExceptionSubclassTranslator();

    private DataAccessFailures() {}

    /** The exception to throw instead; what has nothing to do with the database stays what it is. */
    static RuntimeException translate(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        boolean named =
                failure instanceof DataAccessException && !(failure instanceof UncategorizedDataAccessException);
        if (named || failure instanceof SemaphoreException) {
            return (RuntimeException) failure;
        }
        if (failure instanceof DataAccessException // of a commit, by the name of JPA
                || failure instanceof PersistenceException
                || failure instanceof TransactionException) {
            Optional<SQLException> error = SqlErrors.outermost(failure); // a pool says more than the driver beneath it
            DataAccessException translated = error.map(cause -> SQL.translate("semaphore transaction", null, cause))
                    .orElse(null);
            return translated != null
                    ? translated
                    : new DataAccessResourceFailureException("The transaction of a semaphore failed", failure);
        }
        return (RuntimeException) failure;
    }
}
