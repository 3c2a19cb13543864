package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.spi.StartFailure;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/** Shows what an exception of the library says is wrong, and what to do. */
final class StartFailureAnalyzer implements FailureAnalyzer {

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StartFailure explained) {
                return new FailureAnalysis(explained.description(), explained.action(), cause);
            }
        }
        return null;
    }
}
