package io.dbsemaphore.rewrite;

import static java.util.stream.Collectors.toSet;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.MethodMatcher;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;
import org.openrewrite.maven.RemoveDependency;
import org.openrewrite.maven.tree.MavenResolutionResult;

/**
 * Replaces ShedLock's {@code @SchedulerLock} with {@code @WithPermits}. The lock keeps its name and ends at the same time. Removes the code
 * and dependencies that enable ShedLock, unless a task still needs it, for example one with {@code lockAtLeastFor}.
 */
public final class ReplaceSchedulerLock extends Migration<ReplaceSchedulerLock.Locks> {

    private static final String SHEDLOCK = "net.javacrumbs.shedlock.";
    private static final String LOCK = SHEDLOCK + "spring.annotation.SchedulerLock";
    private static final String ENABLE = SHEDLOCK + "spring.annotation.EnableSchedulerLock";
    private static final String PROVIDER = SHEDLOCK + "core.LockProvider";
    private static final String KEEP_ALIVE = SHEDLOCK + "support.KeepAliveLockProvider";
    private static final String ASSERT = SHEDLOCK + "core.LockAssert";
    private static final String EXTENDER = SHEDLOCK + "core.LockExtender";

    private static final AnnotationMatcher IS_LOCK = new AnnotationMatcher("@" + LOCK);
    private static final AnnotationMatcher IS_ENABLE = new AnnotationMatcher("@" + ENABLE);
    private static final AnnotationMatcher IS_BEAN =
            new AnnotationMatcher("@org.springframework.context.annotation.Bean");
    private static final MethodMatcher ASSERTS = new MethodMatcher(ASSERT + " assertLocked()");
    private static final MethodMatcher EXTENDS = new MethodMatcher(EXTENDER + " extendActiveLock(..)");

    @Override
    public String getDisplayName() {
        return "Replace `@SchedulerLock` by `@WithPermits`";
    }

    @Override
    public String getDescription() {
        return "Makes semaphores of the locks of ShedLock, except of those with `lockAtLeastFor`, which semaphores do"
                + " not have.";
    }

    @Override
    public Locks getInitialValue(ExecutionContext ctx) {
        return new Locks();
    }

    @Override
    JavaVisitor<ExecutionContext> finder(Locks found) {
        return new JavaIsoVisitor<>() {
            @Override
            public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext ctx) {
                if (IS_LOCK.matches(annotation)) {
                    found.tasks.add(new Task(
                            new Attributes(annotation), Annotated.at(getCursor().getParentTreeCursor())));
                } else if (IS_ENABLE.matches(annotation)) {
                    found.enabled.add(new Attributes(annotation));
                }
                return annotation;
            }

            @Override
            public J.CompilationUnit visitCompilationUnit(J.CompilationUnit unit, ExecutionContext ctx) {
                found.keptAlive |= unit.getTypesInUse().getTypesInUse().stream()
                        .anyMatch(type -> TypeUtils.isOfClassType(type, KEEP_ALIVE));
                return super.visitCompilationUnit(unit, ctx);
            }

            @Override
            public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext ctx) {
                return isProvider(method) ? method : super.visitMethodDeclaration(method, ctx);
            }

            @Override
            public J.Import visitImport(J.Import imported, ExecutionContext ctx) {
                return imported;
            }

            @Override
            public J.Identifier visitIdentifier(J.Identifier identifier, ExecutionContext ctx) {
                found.use(identifier.getType());
                return identifier;
            }
        };
    }

    @Override
    JavaVisitor<ExecutionContext> migrator(Locks found) {
        return new AnnotationReplacement(LOCK, found) {
            @Override
            Replacement replacement(Attributes attributes, Annotated annotated) {
                return found.replacement(new Task(attributes, annotated));
            }

            @Override
            public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext ctx) {
                J.ClassDeclaration changed = super.visitClassDeclaration(type, ctx);
                if (found.needShedLock()) {
                    return changed;
                }
                return changed.withLeadingAnnotations(ListUtils.map(
                                changed.getLeadingAnnotations(),
                                each -> IS_ENABLE.matches(each) ? removed(each) : each))
                        .withBody(changed.getBody()
                                .withStatements(ListUtils.map(
                                        changed.getBody().getStatements(),
                                        each -> isProvider(each) ? removed(each) : each)));
            }

            private <T extends J> @Nullable T removed(T tree) {
                removeImports(tree, this);
                return null;
            }

            @Override
            public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, ExecutionContext ctx) {
                boolean asserts = ASSERTS.matches(call);
                if (!asserts && !EXTENDS.matches(call)) {
                    return super.visitMethodInvocation(call, ctx);
                }
                Replacement lock = lock(getCursor());
                if (lock == null) {
                    return todo(
                            call,
                            getCursor().getParentOrThrow(),
                            "the lock of a caller that is @WithPermits is "
                                    + (asserts
                                            ? "asserted by Permits.assertHeld"
                                            : "extended by Permits.current().renew"));
                }
                if (lock.obstacle() != null) {
                    return call;
                }
                maybeRemoveImport(asserts ? ASSERT : EXTENDER);
                maybeRemoveImport("java.time.Duration.ZERO");
                maybeAddImport(AnnotationReplacement.PERMITS);
                String code = !asserts
                        ? "Permits.current().renew(#{any(java.time.Duration)})"
                        : lock.name().matches("[^#$]*")
                                ? "Permits.assertHeld(\"" + lock.name() + "\")"
                                : "Permits.current()";
                return template(code)
                        .imports(AnnotationReplacement.PERMITS)
                        .build()
                        .apply(
                                getCursor(),
                                call.getCoordinates().replace(),
                                asserts
                                        ? new Object[0]
                                        : new Object[] {call.getArguments().get(0)});
            }

            /** The lock of the method around a call. */
            private @Nullable Replacement lock(Cursor call) {
                Cursor declaration = call.dropParentUntil(
                        each -> each instanceof J.MethodDeclaration || each instanceof J.ClassDeclaration);
                return declaration.getValue() instanceof J.MethodDeclaration method
                        ? method.getLeadingAnnotations().stream()
                                .filter(IS_LOCK::matches)
                                .findFirst()
                                .map(lock -> replacement(new Attributes(lock), Annotated.at(declaration)))
                                .orElse(null)
                        : null;
            }
        };
    }

    private static boolean isProvider(Statement statement) {
        return statement instanceof J.MethodDeclaration method
                && method.getReturnTypeExpression() != null
                && TypeUtils.isAssignableTo(
                        PROVIDER, method.getReturnTypeExpression().getType())
                && method.getLeadingAnnotations().stream().anyMatch(IS_BEAN::matches);
    }

    private record Task(Attributes attributes, Annotated annotated) {

        /** Whether it extends its lock with a {@code lockAtLeastFor}. */
        boolean extendsAtLeast() {
            AtomicBoolean extendsAtLeast = new AtomicBoolean();
            new JavaIsoVisitor<AtomicBoolean>() {
                @Override
                public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, AtomicBoolean found) {
                    if (EXTENDS.matches(call)
                            && !call.getArguments().get(1).toString().endsWith("ZERO")) {
                        found.set(true);
                    }
                    return super.visitMethodInvocation(call, found);
                }
            }.visit(annotated.method(), extendsAtLeast);
            return extendsAtLeast.get();
        }
    }

    /** The locks of an application. */
    static final class Locks extends ApplicationSettings {

        private static final Pattern ZERO = Pattern.compile("0?|0\\D+|PT0S");
        private static final Pattern MILLISECONDS = Pattern.compile("\\d+");
        private static final Pattern DURATION = Pattern.compile("\\d+(ns|us|ms|s|m|h|d)|P[0-9TDHMS.]+|\\$\\{[^#]*}");
        /** Expressions, if any, that use arguments only: ShedLock has no root object. */
        private static final Pattern NAME = Pattern.compile("([^#]|#\\{#\\w+(\\.\\w+(\\(\\))?)*})+");

        private final List<Task> tasks = new ArrayList<>();
        private final List<Attributes> enabled = new ArrayList<>();
        private boolean usedOtherwise;
        private boolean keptAlive;

        private void use(@Nullable JavaType type) {
            String name = type instanceof JavaType.FullyQualified used ? used.getFullyQualifiedName() : "";
            if (name.startsWith(SHEDLOCK) && !name.equals(ASSERT) && !name.equals(EXTENDER)) {
                usedOtherwise = true;
            }
        }

        /** Whether a task keeps its lock, or something else uses ShedLock. */
        private boolean needShedLock() {
            return usedOtherwise
                    || tasks.stream().anyMatch(task -> replacement(task).obstacle() != null);
        }

        @Override
        void useElsewhere(Set<JavaType> types) {
            types.forEach(this::use);
        }

        @Override
        SourceFile applyTo(SourceFile file, ExecutionContext ctx) {
            boolean isPom =
                    file.getMarkers().findFirst(MavenResolutionResult.class).isPresent();
            return isPom && !tasks.isEmpty() && !needShedLock()
                    ? (SourceFile) new RemoveDependency("net.javacrumbs.shedlock", "*", null)
                            .getVisitor()
                            .visitNonNull(file, ctx)
                    : super.applyTo(file, ctx);
        }

        @Override
        void complete() {
            tasks.stream()
                    .map(this::replacement)
                    .filter(replacement -> replacement.obstacle() == null)
                    .forEach(replacement -> capacity(replacement.name(), replacement.capacity()));
        }

        private Replacement replacement(Task task) {
            String name = String.valueOf(task.attributes.literal("name"));
            boolean shared = tasks.stream()
                    .filter(each -> name.equals(each.attributes.literal("name")))
                    .anyMatch(each -> obstacle(each) != null);
            String obstacle = obstacle(task);
            if (obstacle != null || shared) {
                return Replacement.byHand(
                        (obstacle != null ? obstacle : "another task with this lock stays one of ShedLock")
                                + "; keep @SchedulerLock, and let the recipe io.dbsemaphore.rewrite.AdaptShedLock make"
                                + " semaphores of its locks");
            }
            String attributes = ", ttl = \"" + duration(task, "lockAtMostFor") + "\""
                    + (keptAlive ? "" : ", keepAlive = false")
                    + ", releaseAtShutdown = false, onUnavailable = OnUnavailable.SKIP";
            return new Replacement(name, "1", attributes, null);
        }

        private @Nullable String obstacle(Task task) {
            String name = task.attributes.literal("name");
            if (name == null || !NAME.matcher(name).matches()) {
                return "the name of the lock is no text whose expressions only use arguments";
            }
            if (!ZERO.matcher(duration(task, "lockAtLeastFor")).matches() || task.extendsAtLeast()) {
                return "@WithPermits has no lockAtLeastFor";
            }
            if (!DURATION.matcher(duration(task, "lockAtMostFor")).matches()) {
                return "lockAtMostFor, or its default, is no duration that @WithPermits can have as its ttl";
            }
            if (task.annotated.method() == null) {
                return "it is on an annotation, whose attributes may stand for those of @SchedulerLock";
            }
            if (task.annotated.endsLater()) {
                return "@WithPermits would hold the permit until what the method returns completes";
            }
            if (enabled.stream().anyMatch(each -> each.is("interceptMode", "PROXY_SCHEDULER"))) {
                return "@WithPermits guards each call, not only those of the scheduler";
            }
            return nameTaken(task.annotated.file(), AnnotationReplacement.TYPES);
        }

        /** The duration of a task, or its default; has no valid format if none can be read. */
        private String duration(Task task, String attribute) {
            String byDefault = "default" + attribute.replaceFirst("l", "L");
            Set<String> durations = task.attributes.has(attribute)
                    ? Set.of(String.valueOf(task.attributes.literal(attribute)))
                    : enabled.stream()
                            .filter(each -> each.has(byDefault))
                            .map(each -> String.valueOf(each.literal(byDefault)))
                            .collect(toSet());
            String duration = String.join(" or ", durations);
            return MILLISECONDS.matcher(duration).matches() ? duration + "ms" : duration;
        }
    }
}
