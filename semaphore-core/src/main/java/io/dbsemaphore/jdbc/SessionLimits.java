package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** How long a transaction may wait for a lock and how long it may be idle between statements, told to a session. */
interface SessionLimits {

    /** Makes the limits of a database. */
    @FunctionalInterface
    interface Factory {

        /**
         * The limits.
         *
         * @param lockWait how long a statement waits for a row lock
         * @param idle after how long without a statement the server ends the session, and with it the transaction
         */
        SessionLimits of(Duration lockWait, Duration idle);
    }

    /** How long a statement waits for a row lock. */
    Duration lockWait();

    /** How long a transaction may be idle. */
    Duration idle();

    /**
     * Applies what lasts for a session to this one, which has auto-commit off.
     *
     * @return how to give the session back what it had
     */
    default Restoration applyToSession(Connection connection) throws SQLException {
        return Restoration.NONE;
    }

    /** Applies what lasts for a transaction to the one that begins. */
    default void applyToTransaction(Connection connection) throws SQLException {}

    /** Restores what a session had before. */
    @FunctionalInterface
    interface Restoration {

        /** Nothing was changed that outlives the transaction. */
        Restoration NONE = connection -> {};

        void restore(Connection connection) throws SQLException;
    }

    /** Whole seconds, at least one: what MySQL and MariaDB understand. */
    static long seconds(Duration duration) {
        return Math.max(1, duration.plusMillis(999).toSeconds());
    }
}
