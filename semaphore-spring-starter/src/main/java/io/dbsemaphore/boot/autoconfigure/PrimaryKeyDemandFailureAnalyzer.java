package io.dbsemaphore.boot.autoconfigure;

import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains that a MySQL server demands a primary key of each table, which Liquibase's own table does not have. The library
 * makes it with one where it runs its changelog itself; a changelog of the application is run by Spring Boot.
 */
final class PrimaryKeyDemandFailureAnalyzer extends AbstractFailureAnalyzer<SQLException> {

    /** The refused write of Group Replication, and the refused table of sql_require_primary_key. */
    private static final Set<Integer> CODES = Set.of(3098, 3750);

    private static final String TABLE = "DATABASECHANGELOG";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLException cause) {
        return CODES.contains(cause.getErrorCode()) && speaksOfTheTable(rootFailure)
                ? new FailureAnalysis(
                        "The MySQL server demands a primary key of each table, and Liquibase's own table " + TABLE
                                + " has none. It says: " + cause.getMessage(),
                        """
                        One of these, and then start again:

                            set persist sql_generate_invisible_primary_key = ON;   -- for tables that are made from now on

                            alter table DATABASECHANGELOG add column pk bigint unsigned auto_increment primary key invisible;

                        With Group Replication the first change set may have been run without being entered: drop its table \
                        where the next start finds that it exists already.""",
                        cause)
                : null;
    }

    private static boolean speaksOfTheTable(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(TABLE)) {
                return true;
            }
        }
        return false;
    }
}
