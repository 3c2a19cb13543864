package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.aop.UnguardableMethodException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why a method cannot be guarded. */
final class UnguardableMethodFailureAnalyzer extends AbstractFailureAnalyzer<UnguardableMethodException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnguardableMethodException cause) {
        String[] problemAndAction = String.valueOf(cause.getMessage()).split("\\. ", 2);
        String action = problemAndAction.length > 1 ? problemAndAction[1] : "Correct the annotation or the method";
        return new FailureAnalysis(problemAndAction[0] + ".", action + ".", cause);
    }
}
