package io.dbsemaphore.boot.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains an invalid configuration. */
final class SemaphoreConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<SemaphoreConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SemaphoreConfigurationException cause) {
        return new FailureAnalysis(cause.problem(), cause.action(), cause);
    }
}
