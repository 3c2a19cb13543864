package io.dbsemaphore.engine;

import io.dbsemaphore.jdbc.DatabaseUrl;
import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;

/** Thrown when the database of the semaphores cannot be reached, does not exist, or rejects the user or the password. */
public final class DatabaseUnreachableException extends DataAccessResourceFailureException {

    private static final long serialVersionUID = 1L;

    /** The codes of MySQL and MariaDB for a denied and for a missing database. */
    private static final Set<Integer> DATABASE_REFUSED = Set.of(1044, 1049);

    /** The URL without secrets. */
    private final @Nullable String url;

    /**
     * Creates an exception.
     *
     * @param dataSource the data source of the database
     * @param cause why the database cannot be reached
     */
    public DatabaseUnreachableException(DataSource dataSource, Throwable cause) {
        this(DatabaseUrl.of(dataSource).orElse(null), cause);
    }

    private DatabaseUnreachableException(@Nullable String url, Throwable cause) {
        super(
                "The database of the semaphores%s cannot be reached".formatted(url == null ? "" : ", " + url + ","),
                cause);
        this.url = url;
    }

    /**
     * Translates a failure to connect, judged by the innermost error of the driver or the pool.
     *
     * @param dataSource the data source of the database
     * @param failure the failure
     * @return the exception to throw instead; empty if the failure has another cause
     */
    public static Optional<DatabaseUnreachableException> of(DataSource dataSource, Throwable failure) {
        return isFailureToConnect(failure)
                ? Optional.of(new DatabaseUnreachableException(dataSource, failure))
                : Optional.empty();
    }

    /**
     * Checks whether the innermost error of the driver or the pool says that a database could not be reached, does not exist, or rejected
     * the user or the password.
     *
     * @param failure the failure
     * @return whether it does
     */
    public static boolean isFailureToConnect(Throwable failure) {
        return SqlErrors.root(failure)
                .filter(error -> isRefusal(error) || SqlErrors.isConnectionLost(failure))
                .isPresent();
    }

    /** {@return the URL of the database without user, password and parameters; empty if it is unknown} */
    public Optional<String> url() {
        return Optional.ofNullable(url);
    }

    /** Whether the user, the password or the name of the database was rejected. */
    private static boolean isRefusal(SQLException error) {
        String state = error.getSQLState();
        return (state != null && (state.startsWith("28") || state.equals("3D000")))
                || DATABASE_REFUSED.contains(error.getErrorCode());
    }
}
