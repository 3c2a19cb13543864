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
 * A text with expressions. Detects at start-up what would fail for every call. The parts are evaluated one by one:
 * evaluated as a whole, {@code tenant:#{#t.id}} would yield {@code tenant:} if the id is {@code null}, and all such
 * tenants would share a semaphore. So they would if it is empty.
 *
 * @param text the text, with placeholders resolved
 * @param check throws an {@code IllegalArgumentException} for a value that is not valid
 */
record TextTemplate(
        AnnotatedMethod annotated, String attribute, String text, Consumer<String> check, List<Expression> parts) {

    /** What looks like an expression where none is evaluated: its text without the {@code #} or the braces, and its variable. */
    private static final Pattern UNMARKED = Pattern.compile("(?:#|\\{(?=[^{}]*\\}))((\\w+)(?:\\.\\w+|\\(\\))*)");

    /** What in an expression says that it may be empty: an empty text as an alternative. */
    private static final Pattern MAY_BE_EMPTY = Pattern.compile("[?:]\\s*''");

    /**
     * @throws IllegalStateException if it cannot be parsed, uses a variable that the method does not have, or is a literal
     *     that is not valid
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

    /** @throws IllegalArgumentException if an expression fails or has no value, or the whole is not valid */
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

    /** An exception for a call whose template does not evaluate to a valid value. */
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
