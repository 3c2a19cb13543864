package io.dbsemaphore.engine;

import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.Optional;
import org.springframework.dao.DataAccessResourceFailureException;

/** The database of the semaphores cannot be reached, or lets nobody in with this user and password. */
public final class DatabaseUnreachableException extends DataAccessResourceFailureException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception. */
    public DatabaseUnreachableException(Throwable cause) {
        super("The database of the semaphores cannot be reached", cause);
    }

    /** The exception for a failure that says so, by the first error of the driver or the pool that it was caused by. */
    public static Optional<DatabaseUnreachableException> of(Throwable failure) {
        return SqlErrors.root(failure)
                .filter(error -> isRefusal(error) || SqlErrors.isConnectionLost(failure))
                .map(error -> new DatabaseUnreachableException(failure));
    }

    /** Wrong user or password: the class of SQL states for that. */
    private static boolean isRefusal(SQLException error) {
        return error.getSQLState() != null && error.getSQLState().startsWith("28");
    }
}
