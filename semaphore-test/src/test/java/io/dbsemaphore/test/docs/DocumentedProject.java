package io.dbsemaphore.test.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.dbsemaphore.test.TestRun;
import io.dbsemaphore.testing.Documents;
import io.dbsemaphore.testing.ExampleCompiler;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.test.annotation.DirtiesContext;

/**
 * The project of docs/getting-started.md, to which docs/testing.md adds tests. Its classes are loaded once, since Spring Boot remembers the
 * class of the application for all tests of a JVM.
 */
final class DocumentedProject implements AutoCloseable {

    private static final Pattern FILE =
            Pattern.compile("^`(src/main/[^`]+)`:\n\n```\\w+\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

    private final ExampleCompiler compiler;
    private final URLClassLoader classes;

    /** @param output the directory of the class files */
    DocumentedProject(Path output) throws Exception {
        this.compiler = new ExampleCompiler(output);
        this.classes = new URLClassLoader(new URL[] {output.toUri().toURL()}, DocumentedProject.class.getClassLoader());
        FILE.matcher(Documents.read("docs/getting-started.md")).results().forEach(file -> {
            if (file.group(1).endsWith(".java")) {
                compile(file.group(2));
            }
        });
        String settings = FILE.matcher(Documents.read("docs/getting-started.md"))
                .results()
                .filter(file -> file.group(1).endsWith("application.yaml"))
                .findFirst()
                .orElseThrow()
                .group(2);
        Files.writeString(output.resolve("application.yaml"), settings);
    }

    /** The tests of docs/testing.md, by the name of their class. */
    static List<String> tests() {
        return Documents.blocks("docs/testing.md", "java");
    }

    static String nameOf(String test) {
        return Pattern.compile("^class (\\w+)", Pattern.MULTILINE)
                .matcher(test)
                .results()
                .findFirst()
                .orElseThrow()
                .group(1);
    }

    private void compile(String source) {
        assertThat(compiler.errors(source)).as(source).isEmpty();
    }

    /** Compiles and runs a test of the document. Its application context ends with it, since its classes do. */
    TestRun run(String test) throws Exception {
        compile(test.replaceFirst("(?m)^class ", "@" + DirtiesContext.class.getName() + "\nclass "));
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(classes);
        try {
            return TestRun.of(selectClass(classes.loadClass("com.example.quotes." + nameOf(test))));
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Override
    public void close() throws IOException {
        classes.close();
    }
}
