package io.dbsemaphore.aop;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Parses the templates of an annotation, and detects at start-up what would fail for every call. */
final class TextTemplateParser {

    private final ExpressionParser parser = new SpelExpressionParser();
    private final PlaceholderResolver placeholders;

    TextTemplateParser(PlaceholderResolver placeholders) {
        this.placeholders = placeholders;
    }

    /** @throws IllegalStateException if it cannot be parsed, or uses a variable that the method does not have */
    TextTemplate parse(AnnotatedMethod annotated, String attribute, String given) {
        String text = placeholders.resolve(annotated, attribute, given);
        List<Expression> parts;
        try {
            Expression expression = parser.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
            parts = expression instanceof CompositeStringExpression composite
                    ? List.of(composite.getExpressions())
                    : List.of(expression);
        } catch (ParseException | IllegalStateException malformed) {
            throw annotated.refuse(attribute, text, "has an invalid expression: " + malformed.getMessage(), malformed);
        }
        TextTemplate template = new TextTemplate(annotated, attribute, text, parts);
        requireKnownVariables(template, variablesOf(annotated));
        return template;
    }

    private static Set<String> variablesOf(AnnotatedMethod annotated) {
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

    private static void requireKnownVariables(TextTemplate template, Set<String> known) {
        for (Expression part : template.parts()) {
            if (part instanceof SpelExpression expression) {
                unknownVariable(expression.getAST(), known).ifPresent(unknown -> {
                    throw template.annotated()
                            .refuse(
                                    template.attribute(),
                                    template.text(),
                                    "uses %s, which is not one of %s. Correct it, use #p0 for the first argument, or"
                                                    .formatted(unknown, known)
                                            + " compile with -parameters");
                });
            }
        }
        if (template.isLiteral() && known.contains(template.text().split("[^#\\w]", 2)[0])) {
            throw template.annotated()
                    .refuse(
                            template.attribute(),
                            template.text(),
                            "is taken literally. Write #{%s} to have it evaluated".formatted(template.text()));
        }
    }

    private static Optional<String> unknownVariable(SpelNode node, Set<String> known) {
        if (node instanceof VariableReference variable && !known.contains(variable.toStringAST())) {
            return Optional.of(variable.toStringAST());
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            Optional<String> unknown = unknownVariable(node.getChild(i), known);
            if (unknown.isPresent()) {
                return unknown;
            }
        }
        return Optional.empty();
    }
}
