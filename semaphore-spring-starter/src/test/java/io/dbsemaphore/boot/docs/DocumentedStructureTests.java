package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** CONTRIBUTING.md names each package of the library, and no type that does not exist; the largest classes name their tests. */
class DocumentedStructureTests {

    private static final Pattern PACKAGE = Pattern.compile("`(io\\.dbsemaphore[a-z.]*)`");
    private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]+(?:[A-Z0-9][A-Za-z0-9]*)+)`");

    private static final Pattern TEST = Pattern.compile("\\{@code (\\w+Tests)}");

    @Test
    void contributorsAreToldOfEachPackage() throws IOException {
        Set<String> named = PACKAGE.matcher(Documents.section("CONTRIBUTING.md", "Where things are"))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> existing = new TreeSet<>();
        for (String module : List.of(
                "semaphore-core",
                "semaphore-spring-starter",
                "semaphore-adapters",
                "semaphore-test",
                "semaphore-rewrite")) {
            Path sources = Documents.ROOT.resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.endsWith("package-info.java"))
                        .map(file -> sources.relativize(file.getParent()).toString())
                        .forEach(directory -> existing.add(directory.replaceAll("[/\\\\]", ".")));
            }
        }

        assertThat(named).isEqualTo(existing);
    }

    @Test
    void contributorsAreToldOfTypesThatExist() throws IOException {
        Set<String> sources = new TreeSet<>();
        for (String directory : List.of(
                "semaphore-core/src",
                "semaphore-spring-starter/src",
                "semaphore-adapters/src",
                "semaphore-test/src",
                "semaphore-rewrite/src",
                "samples",
                "tools")) {
            try (Stream<Path> files = Files.walk(Documents.ROOT.resolve(directory))) {
                files.map(file -> file.getFileName().toString())
                        .filter(file -> file.endsWith(".java") || file.endsWith(".kt"))
                        .forEach(file -> sources.add(file.replaceAll("\\.\\w+$", "")));
            }
        }

        assertThat(TYPE.matcher(Documents.read("CONTRIBUTING.md")).results().map(found -> found.group(1)))
                .isNotEmpty()
                .allMatch(sources::contains, "is a type of this repository");
    }

    @Test
    void theLargestClassesNameTheirTests() throws IOException {
        Set<String> tests = filesOf("semaphore-core/src/test/java")
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toSet());
        List<Path> largest = filesOf("semaphore-core/src/main/java")
                .sorted(Comparator.comparing(DocumentedStructureTests::linesOfCode)
                        .reversed())
                .limit(10)
                .toList();

        assertThat(largest).allSatisfy(file -> {
            String source = Files.readString(file);
            String comment = source.substring(source.indexOf("\n/**\n"), source.indexOf("\n */"));
            assertThat(TEST.matcher(comment).results().map(test -> test.group(1) + ".java"))
                    .as("the tests that its comment names")
                    .isNotEmpty()
                    .allMatch(tests::contains, "is a test of the core");
        });
    }

    private static Stream<Path> filesOf(String directory) throws IOException {
        try (Stream<Path> files = Files.walk(Documents.ROOT.resolve(directory))) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        }
    }

    private static long linesOfCode(Path file) {
        try {
            return Files.readAllLines(file).stream()
                    .map(String::strip)
                    .filter(line -> !line.matches("|import .*|/?\\*.*|//.*"))
                    .count();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
