package io.dbsemaphore.rewrite;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Tree;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.MethodMatcher;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.MethodCall;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;

/**
 * How one file uses semaphores of Redisson: which call releases the permits of which acquire, and which obstacles a migration has. Every
 * use that is not known is an obstacle.
 */
final class RedissonUses extends JavaIsoVisitor<ExecutionContext> {

    static final String CLIENT = "org.redisson.api.RedissonClient";
    static final String SEMAPHORE = "org.redisson.api.RSemaphore";
    static final String EXPIRABLE = "org.redisson.api.RPermitExpirableSemaphore";
    private static final String INTERRUPTED = "java.lang.InterruptedException";
    /** Stands in a name for a part that is known only at run time. */
    private static final String EXPRESSION = "#{}";

    static final MethodMatcher GET = new MethodMatcher(CLIENT + " get*Semaphore(String)");
    static final MethodMatcher SET_PERMITS = new MethodMatcher("org.redisson.api.R*Semaphore *etPermits(int)");
    static final MethodMatcher ACQUIRE = new MethodMatcher(SEMAPHORE + " *cquire(..)");
    static final MethodMatcher RELEASE = new MethodMatcher(SEMAPHORE + " release(..)");
    static final MethodMatcher ACQUIRE_ID = new MethodMatcher(EXPIRABLE + " *cquire(..)");
    static final MethodMatcher RELEASE_ID = new MethodMatcher(EXPIRABLE + " *elease(String)");
    static final MethodMatcher EXTEND = new MethodMatcher(EXPIRABLE + " updateLeaseTime(..)");

    /** The edits to make by hand, by the ids of statements and declarations. */
    final Map<UUID, String> obstacles = new HashMap<>();
    /** The names of the semaphores, by the variables that hold them. */
    final Map<String, String> names = new HashMap<>();
    /** The names of the semaphores, by the ids of the statements that get them. */
    final Map<UUID, String> got = new HashMap<>();
    /** The permits that the file gives to semaphores, by their names. */
    final Map<String, String> permits = new TreeMap<>();
    /** The catch clauses for an acquire that is interrupted. */
    final Set<UUID> interrupted = new HashSet<>();
    /** The names of all variables. */
    final Set<String> variables = new HashSet<>();
    /** The types of this file. */
    final Set<String> types = new HashSet<>();
    /** The types that this file passes a client to. */
    final Set<String> passedTo = new HashSet<>();

    private final Map<String, Acquire> acquires = new HashMap<>();
    private final Map<UUID, Acquire> released = new HashMap<>();

    /** One call of {@code acquire} or {@code tryAcquire}, and the block for the variable with its result. */
    record Acquire(UUID id, UUID statement, J.Block block, String count) {}

    static RedissonUses in(J.CompilationUnit unit, ExecutionContext ctx) {
        RedissonUses uses = new RedissonUses();
        Set<JavaType> types = unit.getTypesInUse().getTypesInUse();
        if (types.stream().anyMatch(type -> isClass(type, CLIENT) || isSemaphore(type))) {
            uses.findNames(unit);
            uses.visit(unit, ctx);
        }
        String taken = Migration.nameTaken(unit, RedissonMigration.TYPES);
        if (taken != null) {
            uses.obstacles.put(unit.getClasses().get(0).getId(), taken);
        }
        uses.acquires.values().stream()
                .filter(acquire -> !uses.released.containsValue(acquire))
                .forEach(acquire -> uses.obstacles.putIfAbsent(
                        acquire.statement, "nothing releases these permits in a finally block of the same method"));
        if (types.stream().noneMatch(RedissonUses::isSemaphore)) {
            uses.obstacles.clear();
        }
        return uses;
    }

    private void findNames(J.CompilationUnit unit) {
        new JavaIsoVisitor<Integer>() {
            @Override
            public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, Integer unused) {
                if (GET.matches(call)) {
                    Object user = getCursor().getParentTreeCursor().getValue();
                    Expression variable = user instanceof J.VariableDeclarations.NamedVariable declared
                            ? declared.getName()
                            : user instanceof J.Assignment assigned ? assigned.getVariable() : call;
                    names.merge(
                            variable(variable),
                            name(call.getArguments().get(0)),
                            (one, other) -> one.equals(other) ? one : EXPRESSION);
                }
                return super.visitMethodInvocation(call, unused);
            }
        }.visit(unit, 0);
    }

    @Override
    public J.Import visitImport(J.Import imported, ExecutionContext ctx) {
        return imported;
    }

    @Override
    public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext ctx) {
        types.add(fullName(type.getType()));
        return super.visitClassDeclaration(type, ctx);
    }

    @Override
    public J.VariableDeclarations.NamedVariable visitVariable(
            J.VariableDeclarations.NamedVariable variable, ExecutionContext ctx) {
        variables.add(variable.getSimpleName());
        if (variable.getSimpleName().equals("semaphores") && !isClass(variable.getType(), CLIENT)) {
            obstacle("the name 'semaphores' is taken; rename it, and run the recipe again");
        }
        return super.visitVariable(variable, ctx);
    }

    @Override
    public J.NewClass visitNewClass(J.NewClass created, ExecutionContext ctx) {
        look(created.getMethodType(), created.getArguments());
        return super.visitNewClass(created, ctx);
    }

    @Override
    public J.Identifier visitIdentifier(J.Identifier identifier, ExecutionContext ctx) {
        boolean client = isClass(identifier.getType(), CLIENT);
        Cursor use = getCursor().getParentTreeCursor();
        boolean field = use.getValue() instanceof J.FieldAccess;
        if ((client || isSemaphore(identifier.getType()))
                && !isKnown(field ? use.getValue() : identifier, field ? use.getParentTreeCursor() : use, client)) {
            obstacle(
                    client
                            ? "the RedissonClient is more than a field that gets semaphores; inject SemaphoreOperations"
                                    + " beside it"
                            : "a semaphore of Redisson is passed on; pass an AcquireRequest, and acquire it by"
                                    + " SemaphoreOperations");
        }
        return identifier;
    }

    /** {@return whether this use of a type or a variable is migrated} */
    private static boolean isKnown(Tree used, Cursor use, boolean client) {
        Object user = use.getValue();
        if (user instanceof J.VariableDeclarations) {
            Cursor declarer = use.getParentTreeCursor();
            boolean parameter = declarer.getValue() instanceof J.MethodDeclaration method && method.isConstructor();
            boolean field = declarer.getParentTreeCursor().getValue() instanceof J.ClassDeclaration;
            return client ? parameter || field : declarer.getValue() instanceof J.Block;
        }
        if (user instanceof J.VariableDeclarations.NamedVariable variable) {
            return variable.getName().isScope(used) && !(client && variable.getInitializer() != null);
        }
        if (user instanceof J.Assignment assignment) {
            return client
                    ? isClass(assignment.getVariable().getType(), CLIENT)
                            && assignment.getAssignment() instanceof J.Identifier
                    : assignment.getVariable().isScope(used);
        }
        return user instanceof J.MethodInvocation call
                && call.getSelect() != null
                && call.getSelect().isScope(used);
    }

    @Override
    public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, ExecutionContext ctx) {
        look(call.getMethodType(), call.getArguments());
        JavaType on = call.getSelect() == null ? null : call.getSelect().getType();
        if (isClass(on, CLIENT)) {
            Object user = getCursor().getParentTreeCursor().getValue();
            boolean known =
                    user instanceof J.VariableDeclarations.NamedVariable variable && isSemaphore(variable.getType());
            known |= user instanceof J.Assignment assigned
                    && isSemaphore(assigned.getVariable().getType());
            known |= user instanceof J.MethodInvocation outer && call == outer.getSelect();
            if (GET.matches(call) && known) {
                got.put(statement().getId(), name(call.getArguments().get(0)));
            } else {
                obstacle("the RedissonClient is used for something else; inject SemaphoreOperations beside it");
            }
        } else if (isSemaphore(on)) {
            visitCall(call, Objects.requireNonNull(call.getSelect()));
        }
        return super.visitMethodInvocation(call, ctx);
    }

    private void look(JavaType.@Nullable Method method, List<Expression> arguments) {
        if (method != null && arguments.stream().anyMatch(each -> isClass(each.getType(), CLIENT))) {
            passedTo.add(method.getDeclaringType().getFullyQualifiedName());
        }
    }

    private void visitCall(J.MethodInvocation call, Expression semaphore) {
        boolean statement = getCursor().getParentTreeCursor().getValue() instanceof J.Block;
        String name = names.get(variable(semaphore));
        if (name == null) {
            obstacle("this file does not get the semaphore; acquire an AcquireRequest by SemaphoreOperations");
        } else if (SET_PERMITS.matches(call) && statement && call.getArguments().get(0) instanceof J.Literal number) {
            permits.put(name, String.valueOf(number.getValue()));
        } else if (!hasClient()) {
            obstacle("keep the RedissonClient in a field of this type, and run the recipe again");
        } else if (ACQUIRE.matches(call)) {
            acquire(call, semaphore, name);
        } else if (RELEASE.matches(call) && statement) {
            release(call, semaphore);
        } else if (ACQUIRE_ID.matches(call) && isClass(call.getType(), "java.lang.String")) {
            findInterrupted(call);
        } else if (!RELEASE_ID.matches(call) && !(EXTEND.matches(call) && statement)) {
            obstacle("%s has no counterpart; use SemaphoreOperations, SemaphoreAdmin, or the configured capacity"
                    .formatted(call.getSimpleName()));
        }
    }

    /** {@return whether the type at the cursor has one field with the client, which becomes {@code SemaphoreOperations}} */
    private boolean hasClient() {
        J.MethodDeclaration method = getCursor().firstEnclosing(J.MethodDeclaration.class);
        boolean isStatic = method != null && method.hasModifier(J.Modifier.Type.Static);
        List<Statement> members = getCursor()
                .firstEnclosingOrThrow(J.ClassDeclaration.class)
                .getBody()
                .getStatements();
        return members.stream()
                        .filter(each -> each instanceof J.VariableDeclarations field
                                && isClass(field.getType(), CLIENT)
                                && (!isStatic || field.hasModifier(J.Modifier.Type.Static)))
                        .count()
                == 1;
    }

    private void acquire(J.MethodInvocation call, Expression semaphore, String name) {
        J.Block block = blockOf(call);
        if (block == null) {
            obstacle("keep the PermitGrant that SemaphoreOperations.tryAcquire returns, and release that");
        } else if (counts(call) && name.contains(EXPRESSION)) {
            obstacle("the name of the semaphore is no literal; write AcquireRequest.of(name, %s)"
                    .formatted(count(call)));
        } else if (acquires.containsKey(inScope(semaphore))) {
            obstacle("the method acquires twice; keep the PermitGrant of each acquire, and release that");
        } else {
            acquires.put(
                    inScope(semaphore), new Acquire(call.getId(), statement().getId(), block, count(call)));
        }
        findInterrupted(call);
    }

    private void release(J.MethodInvocation call, Expression semaphore) {
        Acquire acquire = acquires.get(inScope(semaphore));
        boolean isFinal = getCursor()
                .getPathAsStream(J.Try.class::isInstance)
                .map(J.Try.class::cast)
                .anyMatch(each -> each.getFinally() != null && getCursor().isScopeInPath(each.getFinally()));
        if (acquire == null
                || !isFinal
                || !getCursor().isScopeInPath(acquire.block)
                || released.containsValue(acquire)) {
            obstacle("it is not certain what this releases; release the PermitGrant of the acquire");
        } else if (!acquire.count.equals(count(call))) {
            obstacle("%s permits are acquired and %s released; release the PermitGrant of the acquire, with all permits"
                    .formatted(acquire.count, count(call)));
        } else {
            released.put(call.getId(), acquire);
        }
    }

    /** The block around a call whose outcome is ignored, put into a variable, or the condition of an {@code if}. */
    private J.@Nullable Block blockOf(J.MethodInvocation call) {
        Cursor use = getCursor().getParentTreeCursor();
        if (call.getType() != JavaType.Primitive.Void) {
            while (use.getValue() instanceof J.Unary
                    || use.getValue() instanceof J.ControlParentheses
                    || use.getValue() instanceof J.VariableDeclarations.NamedVariable) {
                use = use.getParentTreeCursor();
            }
            if (!(use.getValue() instanceof J.If || use.getValue() instanceof J.VariableDeclarations)) {
                return null;
            }
            use = use.getParentTreeCursor();
        }
        return use.getValue() instanceof J.Block block ? block : null;
    }

    /** Finds the clauses that catch the exception of Redisson: an interrupted acquire will throw another one. */
    private void findInterrupted(J.MethodInvocation call) {
        if (!isInterruptible(call)) {
            return;
        }
        getCursor()
                .getPathAsStream(
                        each -> each instanceof J.Try guard && getCursor().isScopeInPath(guard.getBody()))
                .map(J.Try.class::cast)
                .forEach(guard -> guard.getCatches().forEach(clause -> {
                    JavaType caught = clause.getParameter().getTree().getType();
                    boolean catches = isClass(caught, INTERRUPTED);
                    if (caught instanceof JavaType.MultiCatch || (catches && isInterruptedOtherwise(guard))) {
                        obstacle("an interrupted acquire throws AcquireInterruptedException; catch it beside what is"
                                + " caught here");
                    } else if (catches) {
                        interrupted.add(clause.getId());
                    }
                }));
    }

    private static boolean isInterruptedOtherwise(J.Try guard) {
        AtomicBoolean otherwise = new AtomicBoolean();
        new JavaIsoVisitor<AtomicBoolean>() {
            @Override
            public @Nullable J preVisit(J tree, AtomicBoolean found) {
                if (tree instanceof MethodCall call
                        && !ACQUIRE.matches(call)
                        && !ACQUIRE_ID.matches(call)
                        && isInterruptible(call)) {
                    found.set(true);
                }
                return tree;
            }
        }.visit(guard.getBody(), otherwise);
        return otherwise.get();
    }

    private static boolean isInterruptible(MethodCall call) {
        JavaType.Method method = call.getMethodType();
        return method == null
                || method.getThrownExceptions().stream()
                        .anyMatch(each -> TypeUtils.isAssignableTo(each, JavaType.buildType(INTERRUPTED)));
    }

    private String inScope(Expression semaphore) {
        Cursor scope = getCursor()
                .dropParentUntil(each -> each instanceof J.MethodDeclaration
                        || each instanceof J.Lambda
                        || each instanceof J.ClassDeclaration);
        return variable(semaphore) + " in " + scope.<J>getValue().getId();
    }

    private void obstacle(String what) {
        obstacles.putIfAbsent(statement().getId(), what);
    }

    private J statement() {
        return Migration.statement(getCursor()).getValue();
    }

    /** {@return the acquire whose permits a call releases} */
    Acquire acquireOf(J.MethodInvocation release) {
        return Objects.requireNonNull(released.get(release.getId()));
    }

    Acquire acquire(J.MethodInvocation call) {
        return acquires.values().stream()
                .filter(each -> each.id.equals(call.getId()))
                .findFirst()
                .orElseThrow();
    }

    /** {@return whether a call gives a number of permits} */
    static boolean counts(J.MethodInvocation call) {
        JavaType.Method method = call.getMethodType();
        return method != null
                && !method.getParameterTypes().isEmpty()
                && method.getParameterTypes().get(0) == JavaType.Primitive.Int;
    }

    static String count(J.MethodInvocation call) {
        return counts(call) ? call.getArguments().get(0).toString() : "1";
    }

    /** {@return the key of a variable in {@link #names}} */
    static String variable(Expression variable) {
        J.Identifier name = variable instanceof J.FieldAccess access
                ? access.getName()
                : variable instanceof J.Identifier simple ? simple : null;
        return name == null ? variable.toString() : String.valueOf(name.getFieldType());
    }

    private static String name(Expression expression) {
        if (expression instanceof J.Binary sum) {
            return name(sum.getLeft()) + name(sum.getRight());
        }
        return expression instanceof J.Literal literal ? String.valueOf(literal.getValue()) : EXPRESSION;
    }

    static String fullName(@Nullable JavaType type) {
        return type instanceof JavaType.FullyQualified named ? named.getFullyQualifiedName() : "";
    }

    static boolean isSemaphore(@Nullable JavaType type) {
        return isClass(type, SEMAPHORE) || isClass(type, EXPIRABLE);
    }

    static boolean isClass(@Nullable JavaType type, String name) {
        return TypeUtils.isOfClassType(type, name);
    }
}
