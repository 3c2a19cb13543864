package io.dbsemaphore.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.openrewrite.yaml.Assertions.yaml;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.openrewrite.Recipe;
import org.openrewrite.java.JavaParser;
import org.openrewrite.kotlin.KotlinParser;
import org.openrewrite.test.RecipeSpec;
import org.openrewrite.test.RewriteTest;
import org.openrewrite.test.SourceSpecs;

/** The test of a recipe, with the libraries that it migrates on the class path of the code. */
interface RecipeTest extends RewriteTest {

    Recipe recipe();

    private static String[] libraries() {
        return new String[] {
            "redisson",
            "shedlock-core",
            "shedlock-provider-jdbc-template",
            "shedlock-spring",
            "shedlock-sql-support",
            "spring-beans",
            "spring-context",
            "spring-core",
            "spring-integration-core",
            "spring-integration-jdbc",
            "spring-jdbc",
            "spring-tx"
        };
    }

    /** A parser of code that uses what is migrated. */
    static JavaParser.Builder<?, ?> parser() {
        return JavaParser.fromJavaVersion().classpath(libraries());
    }

    @Override
    default void defaults(RecipeSpec spec) {
        spec.recipe(recipe()).parser(parser()).parser(KotlinParser.builder().classpath(libraries()));
    }

    /** Asserts that the compiler accepts what a recipe is expected to write. */
    default String compiling(String source) {
        String path = JavaParser.runtimeClasspath().stream()
                .map(Path::toString)
                .collect(Collectors.joining(System.getProperty("path.separator")));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Migrated.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        compiler.getTask(
                        null,
                        null,
                        messages,
                        List.of("-proc:none", "-cp", path, "-d", "target/migrated"),
                        null,
                        List.of(file))
                .call();
        assertThat(messages.getDiagnostics())
                .filteredOn(message -> message.getKind() == Diagnostic.Kind.ERROR)
                .isEmpty();
        return source;
    }

    /** A new file for the settings of the application. */
    default SourceSpecs newSettings(String yaml) {
        return yaml(null, yaml, spec -> spec.path("src/main/resources/application.yaml"));
    }
}
