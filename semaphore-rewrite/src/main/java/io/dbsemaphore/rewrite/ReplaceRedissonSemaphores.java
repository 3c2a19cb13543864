package io.dbsemaphore.rewrite;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;

/**
 * Replaces semaphores of Redisson with requests, and their acquires and releases with calls of {@code SemaphoreOperations}. Files that use
 * the same semaphore are migrated together or not at all.
 */
public final class ReplaceRedissonSemaphores extends Migration<ReplaceRedissonSemaphores.Semaphores> {

    @Override
    public String getDisplayName() {
        return "Replace `RSemaphore` and `RPermitExpirableSemaphore`";
    }

    @Override
    public String getDescription() {
        return "Makes semaphores of the database of those of Redisson.";
    }

    @Override
    public Semaphores getInitialValue(ExecutionContext ctx) {
        return new Semaphores();
    }

    @Override
    JavaVisitor<ExecutionContext> finder(Semaphores found) {
        return new JavaIsoVisitor<>() {
            @Override
            public J.CompilationUnit visitCompilationUnit(J.CompilationUnit unit, ExecutionContext ctx) {
                found.add(RedissonUses.in(unit, ctx));
                return unit;
            }
        };
    }

    @Override
    JavaVisitor<ExecutionContext> migrator(Semaphores found) {
        return new JavaVisitor<>() {
            @Override
            public J visitCompilationUnit(J.CompilationUnit unit, ExecutionContext ctx) {
                RedissonUses uses = RedissonUses.in(unit, ctx);
                J migrated = uses.names.isEmpty() || found.isKept(uses)
                        ? unit
                        : new RedissonMigration(uses).visitNonNull(unit, ctx);
                return new Todos(found, uses).visitNonNull(migrated, ctx);
            }
        };
    }

    /** Adds comments that say what to do by hand. */
    private static final class Todos extends JavaVisitor<ExecutionContext> {

        private final Semaphores found;
        private final RedissonUses uses;

        Todos(Semaphores found, RedissonUses uses) {
            this.found = found;
            this.uses = uses;
        }

        @Override
        public J postVisit(J tree, ExecutionContext ctx) {
            String todo = found.isKept(uses) ? obstacle(tree) : missingCapacity(tree);
            return todo == null ? tree : todo(tree, getCursor().getParentOrThrow(), todo);
        }

        private @Nullable String missingCapacity(J tree) {
            String name = uses.got.get(tree.getId());
            String missing = name == null ? null : found.missingCapacity(name);
            return missing == null ? null : "configure " + missing;
        }

        private @Nullable String obstacle(J tree) {
            boolean elsewhere = uses.obstacles.isEmpty()
                    && !uses.names.isEmpty()
                    && tree instanceof J.ClassDeclaration
                    && getCursor().getParentTreeCursor().getValue() instanceof J.CompilationUnit;
            return elsewhere
                    ? "other code has these semaphores, too, or passes the RedissonClient to this type; migrate that by"
                            + " hand, or change it and run the recipe again"
                    : uses.obstacles.get(tree.getId());
        }
    }

    /** The files of an application that use semaphores of Redisson. */
    static final class Semaphores extends ApplicationSettings {

        private final List<RedissonUses> files = new ArrayList<>();
        private final Set<String> kept = new HashSet<>();
        private final Set<String> passedTo = new HashSet<>();
        private boolean inOtherLanguages;

        private void add(RedissonUses file) {
            files.add(file);
            passedTo.addAll(file.passedTo);
        }

        @Override
        void useElsewhere(Set<JavaType> types) {
            inOtherLanguages |= types.stream().anyMatch(RedissonUses::isSemaphore);
            if (types.stream().anyMatch(type -> RedissonUses.isClass(type, RedissonUses.CLIENT))) {
                types.forEach(type -> passedTo.add(RedissonUses.fullName(type)));
            }
        }

        @Override
        void complete() {
            while (files.stream().filter(this::isKept).anyMatch(file -> kept.addAll(file.names.values()))) {
                // files that share a semaphore with a kept file are kept, too
            }
            files.stream().filter(file -> !isKept(file)).forEach(file -> file.permits.forEach(this::capacity));
        }

        private boolean isKept(RedissonUses file) {
            return inOtherLanguages
                    || !file.obstacles.isEmpty()
                    || !Collections.disjoint(file.names.values(), kept)
                    || !Collections.disjoint(file.types, passedTo);
        }
    }
}
