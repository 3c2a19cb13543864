package io.dbsemaphore.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** The test says something about these products only; on any other it is reported as skipped. */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(EnabledOnDatabase.Condition.class)
public @interface EnabledOnDatabase {

    /** The products. */
    DatabaseKind[] value();

    /** Compares with the database of this run. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), EnabledOnDatabase.class)
                    .map(enabled -> evaluate(Arrays.asList(enabled.value())))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("on every database"));
        }

        private static ConditionEvaluationResult evaluate(List<DatabaseKind> kinds) {
            DatabaseKind kind = TestDatabase.kind();
            String reason = "is about %s; this run is on %s".formatted(kinds, kind);
            return kinds.contains(kind)
                    ? ConditionEvaluationResult.enabled(reason)
                    : ConditionEvaluationResult.disabled(reason);
        }
    }
}
