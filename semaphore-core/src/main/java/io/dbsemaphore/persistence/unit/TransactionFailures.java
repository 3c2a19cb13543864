package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;

/** Decides from the failure of a transaction whether to try it again. */
public final class TransactionFailures {

    private TransactionFailures() {}

    /** Whether the same transaction may succeed if it is repeated. */
    public static boolean isWorthRepeating(Throwable failure) {
        return isConnectionBroken(failure)
                || SqlErrors.isConflict(failure)
                || SqlErrors.is(failure, SqlErrorKind.DUPLICATE_KEY)
                || SqlErrors.isReadOnly(failure); // a session that survived a failover
    }

    /** Whether a connection broke, so that the same transaction may succeed on another connection. */
    public static boolean isConnectionBroken(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException
                || (SqlErrors.isConnectionLost(failure) && !SqlErrors.isPoolExhausted(failure));
    }

    /** Whether the database is unavailable, whatever the transaction was. */
    public static boolean isUnreachable(Throwable failure) {
        return SqlErrors.isConnectionLost(failure)
                || SqlErrors.isPoolExhausted(failure)
                || SqlErrors.isReadOnly(failure);
    }
}
