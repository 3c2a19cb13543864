package io.dbsemaphore.rewrite;

import io.dbsemaphore.annotation.WithPermits;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.ScanningRecipe;
import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.JavaParser;
import org.openrewrite.java.JavaTemplate;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaSourceFile;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;
import org.openrewrite.trait.Comments;

/**
 * Migrates Java code and the settings that it needs: reads all files first, then changes them. Kotlin and Groovy stay as they are.
 *
 * @param <F> the findings of all files
 */
abstract class Migration<F extends ApplicationSettings> extends ScanningRecipe<F> {

    /** The wait time of callers that would wait indefinitely. */
    static final int DAYS_WITHOUT_END = 365;

    /** Finds the code to migrate. Its changes are discarded. */
    abstract JavaVisitor<ExecutionContext> finder(F found);

    abstract JavaVisitor<ExecutionContext> migrator(F found);

    @Override
    public TreeVisitor<?, ExecutionContext> getScanner(F found) {
        return new TreeVisitor<Tree, ExecutionContext>() {
            @Override
            public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext ctx) {
                if (tree instanceof SourceFile file) {
                    found.see(file);
                }
                if (tree instanceof J.CompilationUnit) {
                    finder(found).visit(tree, ctx);
                } else if (tree instanceof JavaSourceFile other) {
                    Set<JavaType> types = new HashSet<>(other.getTypesInUse().getTypesInUse());
                    other.getTypesInUse().getUsedMethods().forEach(method -> types.add(method.getDeclaringType()));
                    found.useElsewhere(types);
                }
                return tree;
            }
        };
    }

    @Override
    public Collection<? extends SourceFile> generate(F found, ExecutionContext ctx) {
        found.complete();
        return found.newFile(ctx);
    }

    @Override
    public TreeVisitor<?, ExecutionContext> getVisitor(F found) {
        return new TreeVisitor<Tree, ExecutionContext>() {
            @Override
            public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext ctx) {
                if (tree instanceof J.CompilationUnit) {
                    return migrator(found).visit(tree, ctx);
                }
                return tree instanceof SourceFile file ? found.applyTo(file, ctx) : tree;
            }
        };
    }

    /** {@return the tree with a comment above it that says what to do by hand} */
    static <T extends J> T todo(T tree, Cursor parent, String what) {
        return Comments.of(new Cursor(parent, tree))
                .comment(
                        " TODO DB Semaphore: " + what,
                        Comments.Placement.BEFORE,
                        "\n" + tree.getPrefix().getIndent());
    }

    /** {@return the statement or the declaration around a tree that can have a comment above it} */
    static Cursor statement(Cursor tree) {
        Cursor statement = tree;
        while (!(statement.getValue() instanceof Statement
                && isBody(statement.getParentTreeCursor().getValue()))) {
            statement = statement.getParentTreeCursor();
        }
        return statement;
    }

    private static boolean isBody(Object parent) {
        return parent instanceof J.Block || parent instanceof J.CompilationUnit;
    }

    /** {@return the edit for a name that means another type in that file; null if none does} */
    static @Nullable String nameTaken(J.CompilationUnit file, Collection<String> types) {
        Set<JavaType> named = new HashSet<>(file.getTypesInUse().getTypesInUse());
        new JavaIsoVisitor<Set<JavaType>>() {
            @Override
            public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, Set<JavaType> found) {
                found.add(type.getType());
                return super.visitClassDeclaration(type, found);
            }
        }.visit(file, named);
        for (String type : types) {
            String simpleName = type.substring(type.lastIndexOf('.') + 1);
            for (JavaType each : named) {
                if (each instanceof JavaType.FullyQualified used
                        && !used.getFullyQualifiedName().equals(type)
                        && used.getFullyQualifiedName().matches(".*[.$]" + simpleName + "|" + simpleName)) {
                    return "the name %s is taken; rename it, and run the recipe again".formatted(simpleName);
                }
            }
        }
        return null;
    }

    /** Removes the imports of a removed tree that nothing else uses. */
    static void removeImports(J removed, JavaVisitor<ExecutionContext> visitor) {
        new JavaVisitor<JavaVisitor<ExecutionContext>>() {
            @Override
            public J visitIdentifier(J.Identifier identifier, JavaVisitor<ExecutionContext> importing) {
                importing.maybeRemoveImport(TypeUtils.asFullyQualified(identifier.getType()));
                return identifier;
            }
        }.visit(removed, visitor);
    }

    /** {@return a template of code that may use the types of this library} */
    static JavaTemplate.Builder template(String code) {
        return JavaTemplate.builder(code)
                .javaParser(JavaParser.fromJavaVersion().classpath(List.of(library())));
    }

    private static Path library() {
        try {
            return Path.of(WithPermits.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
