package io.dbsemaphore.aop;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ObjectUtils;

/**
 * A text with expressions. Errors that would fail every call are detected at start-up. Each part is evaluated by itself, and must
 * have a value: {@code tenant:#{#t.id}} would otherwise yield {@code tenant:} for all tenants whose id is {@code null} or empty, and
 * they would share a semaphore.
 *
 * @param text the text, with placeholders resolved
 * @param check throws an {@code IllegalArgumentException} for a value that is not valid
 */
record TextTemplate(
        AnnotatedMethod annotated, String attribute, String text, Consumer<String> check, List<Expression> parts) {

    /** Text that looks like an expression, but is not evaluated. The groups are the text without {@code #} or braces, and its variable. */
    private static final Pattern UNMARKED = Pattern.compile("(?:#|\\{(?=[^{}]*\\}))((\\w+)(?:\\.\\w+|\\(\\))*)");

    /** An empty text as an alternative, which says that the expression may be empty. */
    private static final Pattern MAY_BE_EMPTY = Pattern.compile("[?:]\\s*''");

    /**
     * @throws IllegalStateException if the text cannot be parsed, uses an unknown variable, or is an invalid literal
     */
    static TextTemplate parse(AnnotatedMethod annotated, String attribute, String text, Consumer<String> check) {
        List<Expression> parts;
        try {
            Expression whole = new SpelExpressionParser().parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
            parts = whole instanceof CompositeStringExpression composite
                    ? List.of(composite.getExpressions())
                    : List.of(whole);
        } catch (ParseException | IllegalStateException malformed) {
            throw annotated.refuse(attribute, text, "has an invalid expression: " + malformed.getMessage(), malformed);
        }
        TextTemplate template = new TextTemplate(annotated, attribute, text, check, parts);
        template.requireKnownVariables();
        if (template.isLiteral()) {
            try {
                check.accept(text);
            } catch (IllegalArgumentException invalid) {
                throw annotated.refuse(attribute, text, "is not valid. " + invalid.getMessage(), invalid);
            }
        }
        return template;
    }

    boolean isLiteral() {
        return parts.stream().allMatch(LiteralExpression.class::isInstance);
    }

    /** @throws IllegalArgumentException if an expression fails or has no value, or the whole text is not valid */
    String evaluate(EvaluationContext context) {
        StringBuilder value = new StringBuilder();
        for (Expression part : parts) {
            value.append(evaluate(part, context));
        }
        try {
            check.accept(value.toString());
        } catch (IllegalArgumentException invalid) {
            throw refuse("is not valid. " + invalid.getMessage(), invalid);
        }
        return value.toString();
    }

    /** An exception for a call in which the template has no valid value. */
    IllegalArgumentException refuse(String problem, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "@WithPermits on %s: %s = \"%s\" %s. Nothing was acquired"
                        .formatted(annotated, attribute, text, problem),
                cause);
    }

    private String evaluate(Expression part, EvaluationContext context) {
        String shown = part.getExpressionString();
        Object value;
        try {
            value = ObjectUtils.unwrapOptional(part.getValue(context));
            if (value != null && !isPlural(value)) {
                value = context.getTypeConverter()
                        .convertValue(value, TypeDescriptor.forObject(value), TypeDescriptor.valueOf(String.class));
            }
        } catch (RuntimeException failure) {
            throw refuse("cannot be evaluated: #{%s} failed: %s".formatted(shown, failure.getMessage()), failure);
        }
        if (value instanceof String string
                && (!string.isEmpty() || MAY_BE_EMPTY.matcher(shown).find())) {
            return string;
        }
        throw refuse(
                value == null || value.equals("")
                        ? "has no value: #{%s} is %s"
                                .formatted(
                                        shown,
                                        value == null
                                                ? "null"
                                                : "empty. If that is meant, end the expression with ?: ''")
                        : "needs a single value, but #{%s} is a %s"
                                .formatted(shown, value.getClass().getName()),
                null);
    }

    private static boolean isPlural(Object value) {
        return value instanceof Collection
                || value instanceof Map
                || value.getClass().isArray();
    }

    private void requireKnownVariables() {
        Set<String> known = knownVariables();
        for (Expression part : parts) {
            if (part instanceof SpelExpression expression) {
                variables(expression.getAST())
                        .filter(variable -> !known.contains(variable))
                        .findFirst()
                        .ifPresent(unknown -> {
                            throw annotated.refuse(
                                    attribute,
                                    text,
                                    "uses %s, which is not one of %s. Correct it, use #p0 for the first argument, or"
                                                    .formatted(unknown, known)
                                            + " compile with -parameters");
                        });
            }
        }
        if (isLiteral()) {
            UNMARKED.matcher(text)
                    .results()
                    .filter(unmarked -> known.contains("#" + unmarked.group(2)))
                    .findFirst()
                    .ifPresent(unmarked -> {
                        throw annotated.refuse(
                                attribute,
                                text,
                                "is taken literally. Write #{#%s} to have it evaluated".formatted(unmarked.group(1)));
                    });
        }
    }

    private Set<String> knownVariables() {
        Set<String> variables = new TreeSet<>(Set.of("#root", "#this"));
        @Nullable String @Nullable [] names =
                DefaultParameterNameDiscoverer.getSharedInstance().getParameterNames(annotated.method());
        for (int i = 0; i < annotated.method().getParameterCount(); i++) {
            variables.add("#a" + i);
            variables.add("#p" + i);
            if (names != null && names[i] != null) {
                variables.add("#" + names[i]);
            }
        }
        return variables;
    }

    private static Stream<String> variables(SpelNode node) {
        Stream<String> within = IntStream.range(0, node.getChildCount())
                .mapToObj(node::getChild)
                .flatMap(TextTemplate::variables);
        return node instanceof VariableReference ? Stream.concat(Stream.of(node.toStringAST()), within) : within;
    }
}
