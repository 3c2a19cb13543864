package io.dbsemaphore.rewrite;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Option;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;

/**
 * Removes the bean definitions for another library's locks, and sets the property that enables the adapter for that library's locks. The
 * code that uses the locks stays as it is. Nothing is changed if one of the beans does more than create a lock registry or lock provider.
 */
public final class UseLockAdapter extends Migration<UseLockAdapter.Beans> {

    private static final AnnotationMatcher BEAN = new AnnotationMatcher("@org.springframework.context.annotation.Bean");

    @Option(
            displayName = "Package",
            description = "The package of the types whose beans the adapter replaces.",
            example = "org.springframework.integration.jdbc.lock")
    private final String replacedPackage;

    @Option(
            displayName = "Adapter",
            description = "The prefix of the properties of the adapter.",
            example = "semaphore.adapters.spring-integration")
    private final String adapter;

    /**
     * @param replacedPackage the package of the types whose beans the adapter replaces
     * @param adapter the prefix of the properties of the adapter
     */
    @JsonCreator
    public UseLockAdapter(
            @JsonProperty("replacedPackage") String replacedPackage, @JsonProperty("adapter") String adapter) {
        this.replacedPackage = replacedPackage;
        this.adapter = adapter;
    }

    @Override
    public String getDisplayName() {
        return "Use an adapter for locks";
    }

    @Override
    public String getDescription() {
        return "Makes semaphores of the locks of another library, whose code stays as it is.";
    }

    @Override
    public Beans getInitialValue(ExecutionContext ctx) {
        return new Beans();
    }

    @Override
    JavaVisitor<ExecutionContext> finder(Beans found) {
        return new JavaIsoVisitor<>() {
            @Override
            public J.CompilationUnit visitCompilationUnit(J.CompilationUnit unit, ExecutionContext ctx) {
                Uses uses = new Uses();
                uses.visit(unit, ctx);
                found.add(uses);
                return unit;
            }
        };
    }

    @Override
    JavaVisitor<ExecutionContext> migrator(Beans found) {
        return new JavaIsoVisitor<>() {
            private final Uses uses = new Uses();

            @Override
            public J.CompilationUnit visitCompilationUnit(J.CompilationUnit unit, ExecutionContext ctx) {
                uses.visit(unit, ctx);
                return super.visitCompilationUnit(unit, ctx);
            }

            @Override
            public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext ctx) {
                J.ClassDeclaration visited = super.visitClassDeclaration(type, ctx);
                if (!found.areReplaced()) {
                    return visited;
                }
                return visited.withBody(visited.getBody()
                        .withStatements(ListUtils.map(visited.getBody().getStatements(), this::keptOrRemoved)));
            }

            private @Nullable Statement keptOrRemoved(Statement member) {
                if (!uses.beans.containsKey(member.getId())) {
                    return member;
                }
                removeImports(member, this);
                return null;
            }

            @Override
            public J postVisit(J tree, ExecutionContext ctx) {
                String todo = uses.obstacles.get(tree.getId());
                String bean = uses.beans.get(tree.getId());
                if (todo == null && bean != null) {
                    todo = found.leftToDo(bean);
                }
                return todo == null ? tree : todo(tree, getCursor().getParentOrThrow(), todo);
            }
        };
    }

    private boolean isReplaced(@Nullable JavaType type) {
        return type instanceof JavaType.FullyQualified named
                && named.getPackageName().startsWith(replacedPackage);
    }

    /** {@return the object that a bean method creates; null if the method does more} */
    private static J.@Nullable NewClass created(J.MethodDeclaration method) {
        List<Statement> body =
                method.getBody() == null ? List.of() : method.getBody().getStatements();
        return body.size() == 1
                        && method.getLeadingAnnotations().stream().anyMatch(BEAN::matches)
                        && body.get(0) instanceof J.Return returned
                        && returned.getExpression() instanceof J.NewClass created
                ? created
                : null;
    }

    /** The beans of one file that the adapter replaces, and the obstacles to that. */
    private final class Uses extends JavaIsoVisitor<ExecutionContext> {

        /** The methods, by their ids. */
        private final Map<UUID, String> beans = new HashMap<>();

        private final Map<UUID, String> obstacles = new HashMap<>();
        private final Set<String> called = new HashSet<>();

        @Override
        public J.Import visitImport(J.Import imported, ExecutionContext ctx) {
            return imported;
        }

        @Override
        public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, ExecutionContext ctx) {
            called.add(String.valueOf(call.getMethodType()));
            return super.visitMethodInvocation(call, ctx);
        }

        @Override
        public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext ctx) {
            J.NewClass created = created(method);
            if (created == null || !isReplaced(created.getType())) {
                return super.visitMethodDeclaration(method, ctx);
            }
            beans.put(method.getId(), String.valueOf(method.getMethodType()));
            if (created.getArguments().stream()
                    .anyMatch(each -> TypeUtils.isOfClassType(each.getType(), "java.time.Duration"))) {
                obstacle("set %s.ttl to this duration, and remove it here; then run the recipe again"
                        .formatted(adapter));
            }
            return method;
        }

        @Override
        public J.Identifier visitIdentifier(J.Identifier identifier, ExecutionContext ctx) {
            if (identifier.getType() instanceof JavaType.FullyQualified type && isReplaced(type)) {
                obstacle("do without %s, and set what it sets by the properties of %s; then run the recipe again"
                        .formatted(type.getClassName(), adapter));
            }
            return identifier;
        }

        /** Keeps one for each member of a type. */
        private void obstacle(String what) {
            Cursor member = statement(getCursor());
            while (!(member.getValue() instanceof J.ClassDeclaration)
                    && !(member.getParentTreeCursor().getParentTreeCursor().getValue() instanceof J.ClassDeclaration)) {
                member = statement(member.getParentTreeCursor());
            }
            obstacles.putIfAbsent(member.<J>getValue().getId(), what);
        }
    }

    /** The beans of an application. */
    final class Beans extends ApplicationSettings {

        private final Set<String> beans = new HashSet<>();
        private final Set<String> called = new HashSet<>();
        private boolean usedElsewhere;
        private boolean kept;

        private void add(Uses uses) {
            kept |= !uses.obstacles.isEmpty();
            beans.addAll(uses.beans.values());
            called.addAll(uses.called);
        }

        @Override
        void useElsewhere(Set<JavaType> types) {
            usedElsewhere |= types.stream().anyMatch(UseLockAdapter.this::isReplaced);
        }

        private boolean areReplaced() {
            return !kept && !beans.isEmpty() && areAdded() && !usedElsewhere && Collections.disjoint(beans, called);
        }

        /** {@return the edit that this bean needs; null if it needs none, or if another edit comes first} */
        private @Nullable String leftToDo(String bean) {
            if (called.contains(bean)) {
                return "this method is called; inject the bean there, and run the recipe again";
            }
            return areReplaced() || kept || !Collections.disjoint(beans, called)
                    ? null
                    : "remove this bean, and set %s.enabled=true".formatted(adapter);
        }

        @Override
        void complete() {
            if (areReplaced()) {
                set(adapter + ".enabled", "true");
            }
        }
    }
}
