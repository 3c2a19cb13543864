package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * Explains that the changelog, whether the library or the application ran it, failed because a table exists: the SQL script has
 * made it, or it is another application's. Works on names, since Liquibase may be missing from the class path.
 */
final class ChangelogFailureAnalyzer implements FailureAnalyzer {

    /** What to do where the SQL script has made the tables. */
    static final String MADE_BY_SCRIPT = """
            Do one of these:
                - Stay with the script: remove the include of db/dbsemaphore/changelog.xml, or semaphore.liquibase.enabled
                - Let Liquibase take over: bring the tables up to date with the script of this version, record the change sets once as \
            executed with "liquibase changelog-sync" on a changelog that includes db/dbsemaphore/changelog.xml only, and set \
            semaphore.initialize-schema=never""";

    private static final int MAX_DEPTH = 50;

    /** Table exists, by the SQL standard and on PostgreSQL. */
    private static final Set<String> TABLE_EXISTS = Set.of("42S01", "42P07");

    private static final Pattern CHANGE_SET =
            Pattern.compile(Pattern.quote(SemaphoreTablesMissingException.CHANGELOG) + "::(\\w+)-\\d+::");

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        int depth = 0;
        for (Throwable cause = failure; cause != null && depth < MAX_DEPTH; cause = cause.getCause(), depth++) {
            Matcher changeSet = CHANGE_SET.matcher(String.valueOf(cause.getMessage()));
            if (cause.getClass().getName().startsWith("liquibase.") && changeSet.find()) {
                Optional<SQLException> exists = SqlErrors.root(cause)
                        .filter(error -> TABLE_EXISTS.contains(String.valueOf(error.getSQLState())));
                if (exists.isPresent()) {
                    return analysis(changeSet.group(1), exists.get(), cause);
                }
            }
        }
        return null;
    }

    private static FailureAnalysis analysis(String table, SQLException exists, Throwable cause) {
        return new FailureAnalysis(
                "The changelog of the semaphores cannot create the table '%s', because a table of that name exists. The database reports: %s"
                        .formatted(table, String.valueOf(exists.getMessage()).strip()),
                "If the SQL script of the library has made it (semaphore.initialize-schema, Flyway, or by hand): "
                        + MADE_BY_SCRIPT + "\n\nIf it belongs to another application: "
                        + SemaphoreTableMismatchFailureAnalyzer.PREFIX,
                cause);
    }
}
