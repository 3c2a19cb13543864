package io.dbsemaphore.rewrite;

import java.util.HashMap;
import java.util.Map;
import org.openrewrite.ExecutionContext;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.tree.J;

/**
 * Replaces Spring's {@code @ConcurrencyLimit} with {@code @WithPermits}. The semaphore is called {@code Type.method}, or {@code Type} if
 * the type has the annotation. Its capacity is the limit, which then applies to all instances together.
 */
public final class ReplaceConcurrencyLimit extends Migration<ReplaceConcurrencyLimit.Limits> {

    private static final String REPLACED = "org.springframework.resilience.annotation.ConcurrencyLimit";
    private static final AnnotationMatcher ANNOTATION = new AnnotationMatcher("@" + REPLACED);

    @Override
    public String getDisplayName() {
        return "Replace `@ConcurrencyLimit` by `@WithPermits`";
    }

    @Override
    public String getDescription() {
        return "Makes one limit of all instances of a limit of Spring Framework, which each instance counts by itself.";
    }

    @Override
    public Limits getInitialValue(ExecutionContext ctx) {
        return new Limits();
    }

    @Override
    JavaVisitor<ExecutionContext> finder(Limits found) {
        return new JavaIsoVisitor<>() {
            @Override
            public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext ctx) {
                if (ANNOTATION.matches(annotation)) {
                    Annotated annotated = Annotated.at(getCursor().getParentTreeCursor());
                    found.add(replacement(new Attributes(annotation), annotated), annotated.signature());
                }
                return annotation;
            }
        };
    }

    @Override
    JavaVisitor<ExecutionContext> migrator(Limits found) {
        return new AnnotationReplacement(REPLACED, found) {
            @Override
            Replacement replacement(Attributes attributes, Annotated annotated) {
                Replacement replacement = ReplaceConcurrencyLimit.replacement(attributes, annotated);
                return found.isAmbiguous(replacement.name())
                        ? Replacement.byHand("several limits would be the semaphore '" + replacement.name()
                                + "'; replace @ConcurrencyLimit by @WithPermits with a name of its own")
                        : replacement;
            }
        };
    }

    private static Replacement replacement(Attributes attributes, Annotated annotated) {
        String limit = limit(attributes);
        if (!limit.matches("[1-9]\\d*|\\$\\{[^#\"]*}")) {
            return Replacement.byHand("the limit of @ConcurrencyLimit is neither a positive number nor a placeholder;"
                    + " replace it by @WithPermits, and configure the capacity");
        }
        String taken = nameTaken(annotated.file(), AnnotationReplacement.TYPES);
        if (taken != null) {
            return Replacement.byHand(taken);
        }
        if (annotated.endsLater()) {
            return Replacement.byHand("@ConcurrencyLimit counts a call until the method returns, @WithPermits until"
                    + " what it returns completes; replace it where that is meant");
        }
        if (annotated.isInherited()) {
            return Replacement.byHand("each type has a limit of its own by @ConcurrencyLimit; write @WithPermits with"
                    + " a name of its own on each");
        }
        String waitTime = ", waitTime = \"" + DAYS_WITHOUT_END + "d\"";
        return new Replacement(annotated.name(), limit, attributes.is("policy", "REJECT") ? "" : waitTime, null);
    }

    private static String limit(Attributes attributes) {
        for (String attribute : new String[] {"limitString", "limit", "value"}) {
            if (attributes.has(attribute)) {
                return String.valueOf(attributes.literal(attribute));
            }
        }
        return "";
    }

    /** The limits that can be replaced, by the names of their semaphores. */
    static final class Limits extends ApplicationSettings {

        private final Map<String, Map<String, Replacement>> byName = new HashMap<>();

        private void add(Replacement limit, String owner) {
            if (limit.obstacle() == null) {
                byName.computeIfAbsent(limit.name(), first -> new HashMap<>()).put(owner, limit);
            }
        }

        private boolean isAmbiguous(String name) {
            return byName.getOrDefault(name, Map.of()).size() > 1;
        }

        @Override
        void complete() {
            byName.values().stream()
                    .filter(limits -> limits.size() == 1)
                    .flatMap(limits -> limits.values().stream())
                    .forEach(limit -> capacity(limit.name(), limit.capacity()));
        }
    }
}
