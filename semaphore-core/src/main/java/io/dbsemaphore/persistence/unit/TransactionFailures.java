package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import jakarta.persistence.PersistenceException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/** Interprets the failure of a transaction: whether to try it again, and which exception its caller gets. */
public final class TransactionFailures {

    private static final SQLExceptionTranslator SQL = new SQLExceptionSubclassTranslator();

    private TransactionFailures() {}

    /** Whether the same transaction may succeed if it is repeated. */
    public static boolean isWorthRepeating(Throwable failure) {
        return isConnectionBroken(failure)
                || SqlErrors.isConflict(failure)
                || SqlErrors.is(failure, SqlErrorKind.DUPLICATE_KEY)
                || SqlErrors.isReadOnly(failure); // the session may have survived a failover
    }

    /** Whether a connection broke, so that the same transaction may succeed on another connection. */
    public static boolean isConnectionBroken(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException
                || (SqlErrors.isConnectionLost(failure) && !SqlErrors.isPoolExhausted(failure));
    }

    /** Whether the database is unavailable for every transaction. */
    public static boolean isUnreachable(Throwable failure) {
        return isConnectionBroken(failure) || SqlErrors.isPoolExhausted(failure) || SqlErrors.isReadOnly(failure);
    }

    /** Returns the failure for the caller: instead of an unknown outcome of a commit, the failure of the connection. */
    public static Throwable forCaller(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CommitOutcomeUnknownException && cause != null ? translate(cause) : failure;
    }

    /**
     * Translates a failure to one of Spring's exceptions, by the {@linkplain SqlErrorKind kind} of the driver's innermost error, so that a
     * cause leads to the same exception on every database. Spring itself translates neither a failed begin or commit nor failures of
     * repositories without a container. A failure that does not come from the database is returned unchanged.
     */
    static RuntimeException translate(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        // the pool's message has more detail than the driver's
        Optional<SQLException> error = SqlErrors.outermost(failure);
        boolean isOfDatabase = failure instanceof PersistenceException
                || failure instanceof SQLException
                || (failure instanceof DataAccessException && error.isPresent());
        if (!isOfDatabase) {
            return (RuntimeException) failure;
        }
        DataAccessException translated = error.isEmpty() ? null : byKind(error.get());
        return translated != null
                ? translated
                : new DataAccessResourceFailureException(
                        "The transaction of a semaphore failed"
                                + error.map(each -> ": " + each.getMessage()).orElse(""),
                        failure);
    }

    private static @Nullable DataAccessException byKind(SQLException error) {
        String message = "semaphore transaction; " + error.getMessage();
        Optional<SqlErrorKind> found = Arrays.stream(SqlErrorKind.values())
                .filter(kind -> SqlErrors.is(error, kind))
                .findFirst();
        if (SqlErrors.isPoolExhausted(error) || (found.isEmpty() && SqlErrors.isConnectionLost(error))) {
            return new DataAccessResourceFailureException(message, error);
        }
        return found.isPresent()
                ? of(found.get(), message, error)
                : SQL.translate("semaphore transaction", null, error);
    }

    private static DataAccessException of(SqlErrorKind kind, String message, SQLException error) {
        return switch (kind) {
            case VICTIM, VICTIM_AT_COMMIT, LOCK_TIMEOUT, OBSTACLE, LOCK_REFUSED ->
                new CannotAcquireLockException(message, error);
            case DUPLICATE_KEY -> new DuplicateKeyException(message, error);
            case READ_ONLY -> new TransientDataAccessResourceException(message, error);
            case SESSION_ENDED, EXHAUSTED -> new DataAccessResourceFailureException(message, error);
            case TIMEOUT -> new QueryTimeoutException(message, error);
            case DENIED -> new PermissionDeniedDataAccessException(message, error);
            case MISSING_TABLE, MISSING_SCHEMA, MISSING_COLUMN, STATEMENT_BINLOG ->
                new InvalidDataAccessResourceUsageException(message, error);
        };
    }
}
