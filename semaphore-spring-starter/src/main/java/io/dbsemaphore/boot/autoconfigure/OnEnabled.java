package io.dbsemaphore.boot.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches unless {@code semaphore.enabled} is false. A value that is not a boolean fails the start. */
class OnEnabled extends SpringBootCondition {

    static boolean isIn(Environment environment) {
        return Binder.get(environment).bind("semaphore.enabled", Boolean.class).orElse(true);
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        boolean enabled = isIn(context.getEnvironment());
        return new ConditionOutcome(enabled, "semaphore.enabled is " + enabled);
    }

    /** Matches if {@code semaphore.enabled} is false. */
    static final class Not extends OnEnabled {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConditionOutcome outcome = super.getMatchOutcome(context, metadata);
            return new ConditionOutcome(!outcome.isMatch(), outcome.getConditionMessage());
        }
    }
}
