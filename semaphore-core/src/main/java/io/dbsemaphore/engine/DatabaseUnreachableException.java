package io.dbsemaphore.engine;

import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.Optional;
import org.springframework.dao.DataAccessResourceFailureException;

/** Thrown when the database of the semaphores cannot be reached, or rejects the user or the password. */
public final class DatabaseUnreachableException extends DataAccessResourceFailureException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param cause why the database cannot be reached
     */
    public DatabaseUnreachableException(Throwable cause) {
        super("The database of the semaphores cannot be reached", cause);
    }

    /**
     * Translates a failure to connect, judged by the innermost error of the driver or the pool.
     *
     * @param failure the failure
     * @return the exception to throw instead; empty if the failure has another cause
     */
    public static Optional<DatabaseUnreachableException> of(Throwable failure) {
        return SqlErrors.root(failure)
                .filter(error -> isRefusal(error) || SqlErrors.isConnectionLost(failure))
                .map(error -> new DatabaseUnreachableException(failure));
    }

    /** Whether the user or the password was rejected, judged by the class of the SQL state. */
    private static boolean isRefusal(SQLException error) {
        return error.getSQLState() != null && error.getSQLState().startsWith("28");
    }
}
