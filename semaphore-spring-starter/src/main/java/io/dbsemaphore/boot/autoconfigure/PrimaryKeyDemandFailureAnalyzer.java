package io.dbsemaphore.boot.autoconfigure;

import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains that a MySQL server requires a primary key for each table, which Liquibase's own table lacks. If the library
 * runs its changelog itself, it creates that table with one; a changelog of the application is run by Spring Boot.
 */
final class PrimaryKeyDemandFailureAnalyzer extends AbstractFailureAnalyzer<SQLException> {

    /** The errors of Group Replication, for a write, and of sql_require_primary_key, for the creation of the table. */
    private static final Set<Integer> CODES = Set.of(3098, 3750);

    private static final String TABLE = "DATABASECHANGELOG";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLException cause) {
        return CODES.contains(cause.getErrorCode()) && mentionsTheTable(rootFailure)
                ? new FailureAnalysis(
                        "The MySQL server requires a primary key for each table, and Liquibase's own table " + TABLE
                                + " has none. The server reports: " + cause.getMessage(),
                        """
                                                Execute one of these statements and start again:
                            set persist sql_generate_invisible_primary_key = ON;   -- for tables created from now on

                            alter table DATABASECHANGELOG add column pk bigint unsigned auto_increment primary key invisible;

                        With Group Replication the first change set may have run without being recorded: drop its table \
                        if the next start reports that it already exists.""",
                        cause)
                : null;
    }

    private static boolean mentionsTheTable(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(TABLE)) {
                return true;
            }
        }
        return false;
    }
}
