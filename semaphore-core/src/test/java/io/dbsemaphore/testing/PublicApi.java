package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What applications can compile against, as text: one line for each public type, and one for each of its public and protected
 * members. A committed file of it shows in a review what a change adds, and what it takes away.
 */
public final class PublicApi {

    private final Path classes;

    private PublicApi(Path classes) {
        this.classes = classes;
    }

    /** Of the module that a type is in. */
    public static PublicApi ofModule(Class<?> type) {
        return new PublicApi(Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString())));
    }

    /** Asserts that these packages are as in {@code src/test/api/public-api.txt}. Writes them into {@code target}. */
    public void assertCommitted(String... packages) throws IOException {
        List<String> lines = describe(packages);
        Files.write(Files.createDirectories(Path.of("target")).resolve("public-api.txt"), lines);

        assertThat(lines)
                .as(
                        "The public API has changed. A line that is missing breaks applications (CONTRIBUTING.md, Versions)."
                                + " If that is meant, copy target/public-api.txt to src/test/api/public-api.txt")
                .containsExactlyElementsOf(Files.readAllLines(Path.of("src/test/api/public-api.txt")));
    }

    /**
     * Asserts that the {@code package-info.java} of these packages of the module says what is public API, and that of each other
     * package that it is internal.
     */
    public static void assertDeclared(String... packages) throws IOException {
        Path sources = Path.of("src/main/java");
        Set<String> declared = new TreeSet<>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(each -> each.endsWith("package-info.java")).toList()) {
                String name = sources.relativize(file.getParent()).toString().replaceAll("[/\\\\]", ".");
                String text = Files.readString(file);
                if (text.matches("(?s).*(<p>Public API[.;]|are\\s+(\\*\\s+)?public API).*")) {
                    declared.add(name);
                } else {
                    assertThat(text)
                            .as("What %s is: \"Public API\" or \"Internal\"", name)
                            .contains("Internal");
                }
            }
        }
        assertThat(declared).as("The packages with public API").containsExactlyInAnyOrder(packages);
    }

    /** The lines, sorted by package and name. */
    private List<String> describe(String... packages) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String name : packages) {
            for (Class<?> type : publicTypes(name)) {
                lines.add(describe(type));
                members(type).map(member -> "    " + member).sorted().forEach(lines::add);
            }
        }
        return lines;
    }

    private List<Class<?>> publicTypes(String packageName) throws IOException {
        try (Stream<Path> files = Files.list(classes.resolve(packageName.replace('.', '/')))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".class") && !file.contains("-"))
                    .sorted()
                    .<Class<?>>map(file -> load(packageName + "." + file.replace(".class", "")))
                    .filter(PublicApi::isPublic)
                    .toList();
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApi.class.getClassLoader());
        } catch (ClassNotFoundException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static boolean isPublic(Class<?> type) {
        return !type.isAnonymousClass()
                && Modifier.isPublic(type.getModifiers())
                && (type.getEnclosingClass() == null || isPublic(type.getEnclosingClass()));
    }

    private static String describe(Class<?> type) {
        Type parent = type.getGenericSuperclass();
        String line = type.toGenericString().replaceFirst("\\bsealed ", ""); // which newer JDKs tell
        if (parent != null && parent != Object.class) {
            line += " extends " + parent.getTypeName();
        }
        if (type.getGenericInterfaces().length > 0) {
            line += Arrays.stream(type.getGenericInterfaces())
                    .map(Type::getTypeName)
                    .sorted()
                    .collect(Collectors.joining(", ", " implements ", ""));
        }
        return line;
    }

    private static Stream<String> members(Class<?> type) {
        Stream<String> fields = Arrays.stream(type.getDeclaredFields())
                .filter(PublicApi::isVisible)
                .map(Field::toGenericString);
        Stream<String> constructors = Arrays.stream(type.getDeclaredConstructors())
                .filter(PublicApi::isVisible)
                .map(Constructor::toGenericString);
        Stream<String> methods = Arrays.stream(type.getDeclaredMethods())
                .filter(PublicApi::isVisible)
                .map(PublicApi::describe);
        return Stream.of(fields, constructors, methods).flatMap(lines -> lines);
    }

    private static String describe(Method method) {
        return method.toGenericString() + (method.getDefaultValue() != null ? " default" : "");
    }

    private static boolean isVisible(Member member) {
        return !member.isSynthetic()
                && (Modifier.isPublic(member.getModifiers()) || Modifier.isProtected(member.getModifiers()));
    }
}
