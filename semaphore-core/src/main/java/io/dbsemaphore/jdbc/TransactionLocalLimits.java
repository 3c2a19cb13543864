package io.dbsemaphore.jdbc;

import java.time.Duration;
import java.util.List;

/**
 * PostgreSQL: settings of a transaction, which end with it. Settings of a session would leak to other clients of a
 * proxy that assigns server connections by transaction (PgBouncer).
 */
record TransactionLocalLimits(Duration lockWait, Duration idle) implements SessionLimits {

    @Override
    public void applyToTransaction(StatementQueue statements) {
        statements.open(
                "select set_config('lock_timeout', ?, true), set_config('idle_in_transaction_session_timeout', ?, true)",
                List.of(lockWait.toMillis() + "ms", idle.toMillis() + "ms"));
    }
}
