package io.dbsemaphore.boot.autoconfigure;

import java.sql.SQLTransientConnectionException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains that the pool had no connection left for the library. Does not handle other users of the pool. */
final class PoolExhaustedFailureAnalyzer extends AbstractFailureAnalyzer<SQLTransientConnectionException> {

    private static final String LIBRARY = "io.dbsemaphore.jdbc.";

    private static final String ACTION = """
            An acquire within an open transaction needs a second connection, because it does not use that of the \
            transaction. Do one of these:

                - Raise spring.datasource.hikari.maximum-pool-size: above the number of transactions that acquire at \
            the same time, plus semaphore.max-connections

                - Acquire before the transaction begins, as @WithPermits does on a @Transactional method""";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLTransientConnectionException cause) {
        if (cause.getCause() != null) {
            return null; // no connection could be opened: the pool is not exhausted
        }
        boolean ours = Arrays.stream(cause.getStackTrace())
                .anyMatch(frame -> frame.getClassName().startsWith(LIBRARY));
        return ours
                ? new FailureAnalysis(
                        "The pool had no connection for the semaphores: %s".formatted(cause.getMessage()),
                        ACTION,
                        cause)
                : null;
    }
}
