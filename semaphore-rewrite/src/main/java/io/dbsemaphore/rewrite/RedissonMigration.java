package io.dbsemaphore.rewrite;

import static io.dbsemaphore.rewrite.RedissonUses.ACQUIRE;
import static io.dbsemaphore.rewrite.RedissonUses.ACQUIRE_ID;
import static io.dbsemaphore.rewrite.RedissonUses.CLIENT;
import static io.dbsemaphore.rewrite.RedissonUses.EXPIRABLE;
import static io.dbsemaphore.rewrite.RedissonUses.EXTEND;
import static io.dbsemaphore.rewrite.RedissonUses.GET;
import static io.dbsemaphore.rewrite.RedissonUses.RELEASE;
import static io.dbsemaphore.rewrite.RedissonUses.RELEASE_ID;
import static io.dbsemaphore.rewrite.RedissonUses.SEMAPHORE;
import static io.dbsemaphore.rewrite.RedissonUses.SET_PERMITS;
import static io.dbsemaphore.rewrite.RedissonUses.isClass;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Tree;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.ChangeType;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaCoordinates;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Space;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.marker.Markers;

/**
 * Migrates a file without obstacles. A semaphore becomes an {@code AcquireRequest}, and the client becomes {@code SemaphoreOperations}. The
 * outcome of an acquire is kept in a variable, so that it can be released.
 */
final class RedissonMigration extends JavaVisitor<ExecutionContext> {

    private static final String OPERATIONS = "io.dbsemaphore.SemaphoreOperations";
    private static final String REQUEST = "io.dbsemaphore.AcquireRequest";
    private static final String INTERRUPTED = "io.dbsemaphore.AcquireInterruptedException";
    private static final String GRANT = "io.dbsemaphore.PermitGrant";
    private static final String OPTIONAL = "java.util.Optional";
    /** The types that the generated code names. */
    static final List<String> TYPES = List.of(
            OPERATIONS, REQUEST, GRANT, INTERRUPTED, "io.dbsemaphore.ReleaseOutcome", "java.time.Duration", OPTIONAL);

    private static final Map<String, String> FACTORIES = Map.of(
            "DAYS",
            "ofDays",
            "HOURS",
            "ofHours",
            "MINUTES",
            "ofMinutes",
            "SECONDS",
            "ofSeconds",
            "MILLISECONDS",
            "ofMillis");
    /** The name of the {@code SemaphoreOperations} variable. */
    private static final String SEMAPHORES = "semaphores";

    private final RedissonUses uses;
    /** The variables of outcomes, by the ids of the acquires. */
    private final Map<UUID, J.Identifier> outcomes = new HashMap<>();
    /** The acquires to insert before statements, by the ids of the statements. */
    private final Map<UUID, Code> before = new HashMap<>();

    /** The names of the new variables in the method at the cursor. */
    private Set<String> written = new HashSet<>();

    RedissonMigration(RedissonUses uses) {
        this.uses = uses;
    }

    /** Java code, with the expressions that are its parameters. */
    private record Code(String text, List<Expression> parameters) {

        static Code of(String text, Expression... parameters) {
            return new Code(text, List.of(parameters));
        }

        Code then(Code more) {
            return new Code(text + more.text, ListUtils.concatAll(parameters, more.parameters));
        }

        Code then(String more) {
            return new Code(text + more, parameters);
        }
    }

    @Override
    public J visitCompilationUnit(J.CompilationUnit unit, ExecutionContext ctx) {
        J migrated = super.visitCompilationUnit(unit, ctx);
        migrated = changed(SEMAPHORE, REQUEST, migrated, ctx);
        migrated = changed(EXPIRABLE, REQUEST, migrated, ctx);
        return changed(CLIENT, OPERATIONS, migrated, ctx);
    }

    @Override
    public J visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext ctx) {
        Set<String> outside = written;
        written = new HashSet<>();
        J migrated = super.visitMethodDeclaration(method, ctx);
        written = outside;
        return migrated;
    }

    @Override
    public J visitBlock(J.Block block, ExecutionContext ctx) {
        J.Block migrated = (J.Block) super.visitBlock(
                block.withStatements(ListUtils.map(
                        block.getStatements(),
                        each -> each instanceof J.MethodInvocation call && SET_PERMITS.matches(call) ? null : each)),
                ctx);
        for (Statement statement : migrated.getStatements()) {
            Code acquire = before.remove(statement.getId());
            if (acquire != null) {
                migrated = (J.Block) write(
                        acquire,
                        new Cursor(getCursor().getParentOrThrow(), migrated),
                        statement.getCoordinates().before());
            }
        }
        return migrated;
    }

    @Override
    public J visitVariable(J.VariableDeclarations.NamedVariable variable, ExecutionContext ctx) {
        J.VariableDeclarations.NamedVariable migrated =
                (J.VariableDeclarations.NamedVariable) super.visitVariable(variable, ctx);
        JavaType.Variable type = migrated.getVariableType();
        return type == null ? migrated : migrated.withVariableType(type.withName(migrated.getSimpleName()));
    }

    @Override
    public J visitIdentifier(J.Identifier identifier, ExecutionContext ctx) {
        JavaType.Variable variable = identifier.getFieldType();
        return variable != null && isClass(identifier.getType(), CLIENT)
                ? identifier.withSimpleName(SEMAPHORES).withFieldType(variable.withName(SEMAPHORES))
                : identifier;
    }

    @Override
    public J visitCatch(J.Try.Catch clause, ExecutionContext ctx) {
        J.Try.Catch migrated = (J.Try.Catch) super.visitCatch(clause, ctx);
        if (!uses.interrupted.contains(clause.getId())) {
            return migrated;
        }
        maybeAddImport(INTERRUPTED);
        return migrated.withParameter(migrated.getParameter()
                .withTree(changed(
                        "java.lang.InterruptedException",
                        INTERRUPTED,
                        migrated.getParameter().getTree(),
                        ctx)));
    }

    @Override
    public J visitMethodInvocation(J.MethodInvocation original, ExecutionContext ctx) {
        J.MethodInvocation call = (J.MethodInvocation) super.visitMethodInvocation(original, ctx);
        Code code = code(call);
        return code == null
                ? call
                : write(code, getCursor(), original.getCoordinates().replace()).withId(original.getId());
    }

    /** {@return the replacement of a call; null if it does not call Redisson} */
    private @Nullable Code code(J.MethodInvocation call) {
        List<Expression> arguments = call.getArguments();
        if (GET.matches(call)) {
            return Code.of("AcquireRequest.of(#{any(java.lang.String)})", arguments.get(0));
        }
        if (ACQUIRE.matches(call)) {
            RedissonUses.Acquire acquire = uses.acquire(call);
            boolean tries = call.getSimpleName().startsWith("try");
            String type = tries ? "Optional<PermitGrant> " : "PermitGrant ";
            J.Identifier outcome = outcome(acquire, tries ? OPTIONAL : GRANT);
            Code declared =
                    Code.of(type + outcome.getSimpleName() + " = ").then(operate(call.getSimpleName(), request(call)));
            if (!tries) {
                return declared;
            }
            before.put(acquire.statement(), declared);
            return Code.of("#{any(java.util.Optional)}.isPresent()", outcome);
        }
        if (RELEASE.matches(call)) {
            J.Identifier outcome =
                    Objects.requireNonNull(outcomes.get(uses.acquireOf(call).id()));
            return isClass(outcome.getType(), OPTIONAL)
                    ? Code.of(
                            "#{any(java.util.Optional<io.dbsemaphore.PermitGrant>)}.ifPresent(PermitGrant::release)",
                            outcome)
                    : Code.of("#{any(io.dbsemaphore.PermitGrant)}.release()", outcome);
        }
        if (ACQUIRE_ID.matches(call)) {
            Code acquire = operate(call.getSimpleName(), request(call));
            return call.getSimpleName().startsWith("try")
                    ? acquire.then(".map(PermitGrant::externalId).orElse(null)")
                    : acquire.then(".externalId()");
        }
        if (RELEASE_ID.matches(call)) {
            Code release = operate("release", Code.of("#{any(java.lang.String)}", arguments.get(0)));
            return call.getSimpleName().startsWith("try") ? release.then(" == ReleaseOutcome.RELEASED") : release;
        }
        if (EXTEND.matches(call)) {
            Code id = Code.of("#{any(java.lang.String)}, ", arguments.get(0));
            return operate("renew", id.then(duration(arguments.get(1), arguments.get(2))));
        }
        return null;
    }

    private J.Identifier outcome(RedissonUses.Acquire acquire, String type) {
        String name = "permit";
        for (int number = 2; uses.variables.contains(name) || written.contains(name); number++) {
            name = "permit" + number;
        }
        written.add(name);
        J.Identifier outcome = identifier(name, type);
        outcomes.put(acquire.id(), outcome);
        return outcome;
    }

    private static Code operate(String method, Code argument) {
        return Code.of("#{any(io.dbsemaphore.SemaphoreOperations)}." + method + "(", identifier(SEMAPHORES, OPERATIONS))
                .then(argument)
                .then(")");
    }

    private Code request(J.MethodInvocation call) {
        Expression semaphore = Objects.requireNonNull(call.getSelect());
        boolean tries = call.getSimpleName().startsWith("try");
        boolean counts = RedissonUses.counts(call);
        List<Expression> times = call.getArguments().stream()
                .skip(counts ? 1 : 0)
                .filter(each -> !(each instanceof J.Empty))
                .toList();
        Code request = Code.of("#{any(io.dbsemaphore.AcquireRequest)}", semaphore);
        if (counts) {
            request = request.then(".withPermits(\"%s\", %s)"
                    .formatted(uses.names.get(RedissonUses.variable(semaphore)), RedissonUses.count(call)));
        }
        if (!tries) {
            request = request.then(".withWaitTime(Duration.ofDays(" + Migration.DAYS_WITHOUT_END + "))");
        } else if (!times.isEmpty()) {
            request = request.then(".withWaitTime(")
                    .then(duration(times.get(0), times.get(times.size() - 1)))
                    .then(")");
        }
        if (ACQUIRE.matches(call)) {
            return request.then(".withKeepAlive(true)");
        }
        boolean leases = times.size() == (tries ? 3 : 2);
        return leases
                ? request.then(".withTtl(")
                        .then(duration(times.get(times.size() - 2), times.get(times.size() - 1)))
                        .then(").withReleaseAtShutdown(false)")
                : request.then(".withoutTtl()");
    }

    /** {@return a duration, from a number and its unit, or from the one expression that already is one} */
    private Code duration(Expression amount, Expression unit) {
        if (amount == unit) {
            return Code.of("#{any(java.time.Duration)}", amount);
        }
        String name = unit instanceof J.FieldAccess access ? access.getSimpleName() : unit.toString();
        String factory = FACTORIES.get(name);
        if (factory == null) {
            return Code.of(
                    "Duration.of(#{any(long)}, #{any(java.util.concurrent.TimeUnit)}.toChronoUnit())", amount, unit);
        }
        maybeRemoveImport("java.util.concurrent.TimeUnit");
        maybeRemoveImport("java.util.concurrent.TimeUnit." + name);
        return Code.of("Duration." + factory + "(#{any(long)})", amount);
    }

    private static J.Identifier identifier(String name, String type) {
        return new J.Identifier(
                Tree.randomId(), Space.EMPTY, Markers.EMPTY, List.of(), name, JavaType.buildType(type), null);
    }

    private J write(Code code, Cursor scope, JavaCoordinates at) {
        for (String type : TYPES) {
            maybeAddImport(type);
        }
        return Migration.template(code.text)
                .imports(TYPES.toArray(String[]::new))
                .build()
                .apply(scope, at, code.parameters.toArray());
    }

    @SuppressWarnings("unchecked")
    private static <T extends J> T changed(String type, String to, T tree, ExecutionContext ctx) {
        return (T) new ChangeType(type, to, true).getVisitor().visitNonNull(tree, ctx);
    }
}
