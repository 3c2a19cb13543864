package io.dbsemaphore.aop;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.util.ObjectUtils;

/**
 * A text with expressions. The parts are evaluated one by one: evaluated as a whole, {@code tenant:#{#t.id}} would
 * yield {@code tenant:} if the id is {@code null}, and all such tenants would share a semaphore.
 *
 * @param text the text, with placeholders resolved
 */
record TextTemplate(AnnotatedMethod annotated, String attribute, String text, List<Expression> parts) {

    TextTemplate {
        parts = List.copyOf(parts);
    }

    boolean isLiteral() {
        return parts.stream().allMatch(LiteralExpression.class::isInstance);
    }

    /** @throws IllegalArgumentException if an expression fails or has no value */
    String evaluate(EvaluationContext context) {
        StringBuilder result = new StringBuilder();
        for (Expression part : parts) {
            result.append(evaluate(part, context));
        }
        return result.toString();
    }

    /** An exception for a template that does not evaluate to a valid value. */
    IllegalArgumentException refuse(String problem, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "@WithPermits on %s: %s = \"%s\" %s. Nothing was acquired"
                        .formatted(annotated, attribute, text, problem),
                cause);
    }

    private String evaluate(Expression part, EvaluationContext context) {
        Object value;
        try {
            value = ObjectUtils.unwrapOptional(part.getValue(context));
            if (value != null && !isPlural(value)) {
                value = context.getTypeConverter()
                        .convertValue(value, TypeDescriptor.forObject(value), TypeDescriptor.valueOf(String.class));
            }
        } catch (RuntimeException failure) {
            throw refuse(
                    "cannot be evaluated: #{%s} failed: %s".formatted(part.getExpressionString(), failure.getMessage()),
                    failure);
        }
        if (value instanceof String string) {
            return string;
        }
        throw refuse(
                value == null
                        ? "has no value: #{%s} is null".formatted(part.getExpressionString())
                        : "needs a single value, but #{%s} is a %s"
                                .formatted(
                                        part.getExpressionString(),
                                        value.getClass().getName()),
                null);
    }

    private static boolean isPlural(Object value) {
        return value instanceof Collection
                || value instanceof Map
                || value.getClass().isArray();
    }
}
