package io.dbsemaphore.rewrite;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.J;

/** Replaces an annotation of types and methods with {@code @WithPermits}, or adds a comment that says what to do by hand. */
abstract class AnnotationReplacement extends JavaIsoVisitor<ExecutionContext> {

    private static final String WITH_PERMITS = "io.dbsemaphore.annotation.WithPermits";
    private static final String ON_UNAVAILABLE = "io.dbsemaphore.annotation.OnUnavailable";
    static final String PERMITS = "io.dbsemaphore.Permits";
    /** The types that the generated code names. */
    static final List<String> TYPES = List.of(WITH_PERMITS, ON_UNAVAILABLE, PERMITS);

    private final String replaced;
    private final AnnotationMatcher matcher;
    private final ApplicationSettings settings;

    AnnotationReplacement(String replaced, ApplicationSettings settings) {
        this.replaced = replaced;
        this.matcher = new AnnotationMatcher("@" + replaced);
        this.settings = settings;
    }

    abstract Replacement replacement(Attributes attributes, Annotated annotated);

    @Override
    public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext ctx) {
        if (!matcher.matches(annotation)) {
            return super.visitAnnotation(annotation, ctx);
        }
        Replacement replacement =
                replacement(new Attributes(annotation), Annotated.at(getCursor().getParentTreeCursor()));
        if (replacement.obstacle() != null) {
            return annotation;
        }
        maybeRemoveImport(replaced);
        maybeAddImport(WITH_PERMITS);
        maybeAddImport(ON_UNAVAILABLE);
        J.Annotation written = Migration.template("@WithPermits(names = \"\"" + replacement.attributes() + ")")
                .imports(WITH_PERMITS, ON_UNAVAILABLE)
                .build()
                .apply(getCursor(), annotation.getCoordinates().replace());
        return named(written, replacement.name());
    }

    /** Sets the name outside the template, which would take an expression of Spring for a parameter. */
    private static J.Annotation named(J.Annotation annotation, String name) {
        return annotation.withArguments(ListUtils.mapFirst(annotation.getArguments(), argument -> {
            J.Assignment names = (J.Assignment) argument;
            J.Literal literal = (J.Literal) names.getAssignment();
            String source = name.replace("\\", "\\\\").replace("\"", "\\\"");
            return names.withAssignment(literal.withValue(name).withValueSource("\"" + source + "\""));
        }));
    }

    @Override
    public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext ctx) {
        return told(super.visitMethodDeclaration(method, ctx), method.getLeadingAnnotations());
    }

    @Override
    public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext ctx) {
        return told(super.visitClassDeclaration(type, ctx), type.getLeadingAnnotations());
    }

    private <T extends J> T told(T declaration, List<J.Annotation> annotations) {
        return annotations.stream()
                .filter(matcher::matches)
                .findFirst()
                .map(annotation -> leftToDo(replacement(new Attributes(annotation), Annotated.at(getCursor()))))
                .map(what -> Migration.todo(declaration, getCursor().getParentOrThrow(), what))
                .orElse(declaration);
    }

    private @Nullable String leftToDo(Replacement replacement) {
        if (replacement.obstacle() != null) {
            return replacement.obstacle();
        }
        String missing = settings.missingCapacity(replacement.name());
        return missing == null ? null : "configure " + missing;
    }
}
