package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import io.dbsemaphore.testing.ExampleCompiler;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContextManager;

/** The project of docs/getting-started.md compiles, starts, and passes its own test. */
class DocumentedStartTests {

    private static final Pattern FILE =
            Pattern.compile("^`(src/[^`]+)`:\n\n```\\w+\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final String PACKAGE = "com.example.quotes";

    private static final String APPLICATION = """
            package com.example.quotes;

            import org.springframework.boot.autoconfigure.SpringBootApplication;

            @SpringBootApplication
            class QuotesApplication {}
            """;

    /** These are on the class path of the tests, but not of the project. */
    private static final String SWITCHED_OFF = "spring.flyway.enabled=false\nspring.liquibase.enabled=false\n";

    @TempDir
    Path output;

    @Test
    void passesItsOwnTest() throws Exception {
        Map<String, String> files = files();
        ExampleCompiler compiler = new ExampleCompiler(output);
        assertThat(compiler.errors(APPLICATION)).isEmpty();
        files.forEach((path, text) -> {
            if (path.endsWith(".java")) {
                assertThat(compiler.errors(text)).as(path).isEmpty();
            }
        });
        Files.writeString(
                output.resolve("application.properties"),
                files.get("src/main/resources/application.properties") + SWITCHED_OFF);

        assertThat(runTestsOf("QuoteServiceTests")).isEqualTo(1);
    }

    private static Map<String, String> files() {
        Map<String, String> files = new LinkedHashMap<>();
        FILE.matcher(Documents.read("docs/getting-started.md"))
                .results()
                .forEach(file -> files.put(file.group(1), file.group(2)));
        return files;
    }

    /** Runs the tests of a class as JUnit does with Spring's extension, and returns how many there are. */
    private int runTestsOf(String name) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader project = new URLClassLoader(
                new URL[] {output.toUri().toURL()}, getClass().getClassLoader())) {
            thread.setContextClassLoader(project);
            Class<?> tests = project.loadClass(PACKAGE + "." + name);
            Constructor<?> constructor = tests.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object instance = constructor.newInstance();
            TestContextManager spring = new TestContextManager(tests);
            spring.prepareTestInstance(instance);
            try {
                List<Method> methods = Arrays.stream(tests.getDeclaredMethods())
                        .filter(method -> method.isAnnotationPresent(Test.class))
                        .toList();
                for (Method method : methods) {
                    method.setAccessible(true);
                    method.invoke(instance);
                }
                return methods.size();
            } finally {
                spring.getTestContext().markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
            }
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
