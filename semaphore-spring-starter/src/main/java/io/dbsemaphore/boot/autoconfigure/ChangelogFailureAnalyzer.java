package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * Explains that another application's table is in the way of the changelog, whether the library runs it or the application.
 * By what Liquibase says, since Liquibase need not be on the class path.
 */
final class ChangelogFailureAnalyzer implements FailureAnalyzer {

    private static final int MAX_DEPTH = 50;

    private static final Pattern CHANGE_SET =
            Pattern.compile(Pattern.quote(SemaphoreTablesMissingException.CHANGELOG) + "::(\\w+)-\\d+::");

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        int depth = 0;
        for (Throwable cause = failure; cause != null && depth < MAX_DEPTH; cause = cause.getCause(), depth++) {
            String message = String.valueOf(cause.getMessage());
            Matcher changeSet = CHANGE_SET.matcher(message);
            if (cause.getClass().getName().startsWith("liquibase.")
                    && message.toLowerCase(Locale.ROOT).contains("already exists")
                    && changeSet.find()) {
                return new FailureAnalysis(
                        "The changelog of the semaphores cannot make the table '%s', since one of that name exists. It says: %s"
                                .formatted(changeSet.group(1), message.strip()),
                        "If it is another application's: " + SemaphoreTableMismatchFailureAnalyzer.PREFIX
                                + "\n\nIf it is that of the semaphores, made by a script: remove the include, or "
                                + "semaphore.liquibase.enabled",
                        cause);
            }
        }
        return null;
    }
}
