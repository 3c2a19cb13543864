package io.dbsemaphore.persistence.unit;

import java.sql.SQLException;
import org.springframework.dao.DataAccessResourceFailureException;

/** Commits whose outcome is unknown, for tests without a database. */
public final class UnknownCommits {

    private UnknownCommits() {}

    public static CommitOutcomeUnknownException unanswered() {
        return new CommitOutcomeUnknownException(new DataAccessResourceFailureException(
                "The connection broke", new SQLException("The connection broke", "08S01")));
    }

    /** The commit was sent, and an error was thrown while its answer was awaited. */
    public static CommitOutcomeUnknownException brokenByAnError() {
        return new CommitOutcomeUnknownException(new InternalError("Not of the database"));
    }
}
