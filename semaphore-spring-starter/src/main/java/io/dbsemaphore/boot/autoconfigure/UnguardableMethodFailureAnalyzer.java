package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.aop.UnguardableMethodException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why a method cannot be guarded. */
final class UnguardableMethodFailureAnalyzer extends AbstractFailureAnalyzer<UnguardableMethodException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnguardableMethodException cause) {
        return new FailureAnalysis(cause.problem() + ".", cause.action() + ".", cause);
    }
}
