package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Limits how long a transaction may wait for a lock, and how long it may be idle between statements. */
interface SessionLimits {

    /** How long a statement waits for a row lock. */
    Duration lockWait();

    /** How long a session may be idle within a transaction before the server ends it. */
    Duration idle();

    /**
     * Sets the limits that apply to a whole session, which has auto-commit off.
     *
     * @return restores the previous limits
     */
    default Restoration applyToSession(Connection connection) throws SQLException {
        return Restoration.NONE;
    }

    /** Queues the statement that sets the limits of a single transaction, as its first one. */
    default void applyToTransaction(StatementQueue statements) {}

    /** Restores the previous limits of a session. */
    @FunctionalInterface
    interface Restoration {

        /** For limits that end with the transaction. */
        Restoration NONE = connection -> {};

        void restore(Connection connection) throws SQLException;
    }

    /** Rounds up to whole seconds, at least one, which is the unit of MySQL and MariaDB. */
    static long seconds(Duration duration) {
        return Math.max(1, duration.plusMillis(999).toSeconds());
    }
}
