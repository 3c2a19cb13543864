package io.dbsemaphore.boot.autoconfigure;

import java.sql.SQLTransientConnectionException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains that the pool had no connection left for a semaphore; what others waited for in vain is not ours to explain. */
final class PoolExhaustedFailureAnalyzer extends AbstractFailureAnalyzer<SQLTransientConnectionException> {

    private static final String LIBRARY = "io.dbsemaphore.jdbc.";

    private static final String ACTION = """
            An acquire never uses the connection of a transaction that is open around it, so each transaction that \
            acquires needs a second connection. Do one of these:

                - Raise spring.datasource.hikari.maximum-pool-size: above the number of transactions that acquire at \
            the same time, plus semaphore.max-connections

                - Acquire before the transaction begins, as @WithPermits does on a @Transactional method""";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLTransientConnectionException cause) {
        if (cause.getCause() != null) {
            return null; // no connection could be made: it is not the pool that is exhausted
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
