package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * Explains that the changelog failed because another application has a table of the same name, whether the library or
 * the application ran it. Works on the message, since Liquibase may be missing from the class path.
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
                        "The changelog of the semaphores cannot create the table '%s', because a table of that name exists. Liquibase reports: %s"
                                .formatted(changeSet.group(1), message.strip()),
                        "If the table belongs to another application: " + SemaphoreTableMismatchFailureAnalyzer.PREFIX
                                + "\n\nIf it is the table of the semaphores, created by a script: remove the include, or "
                                + "semaphore.liquibase.enabled. If the library created it before: semaphore.initialize-schema=never",
                        cause);
            }
        }
        return null;
    }
}
