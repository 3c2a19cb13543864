package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * docs/reliability.md has a row for each defect that can be put back, with the test that finds it. The patches, like all mutants, fit the
 * code: what they change is there, once.
 */
class DocumentedTrackRecordTests {

    private static final String PAGE = "docs/reliability.md";
    private static final Path MUTANTS = Documents.ROOT.resolve("semaphore-core/src/test/mutants");
    private static final Pattern LINK =
            Pattern.compile("\\[.+]\\(\\.\\./semaphore-core/src/test/mutants/(found/[a-z-]+\\.patch)\\)");
    private static final Pattern CAUGHT_BY = Pattern.compile("(?m)^Caught by: (.+)$");
    private static final Pattern CHANGED = Pattern.compile("(?m)^\\+\\+\\+ b/(.+)$");
    private static final Pattern HUNK = Pattern.compile("(?m)^@@ .+\n((?:[ +-].*\n?)+)");

    @Test
    void eachDefectHasARowWithItsTest() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        for (List<String> row : Documents.rows(Documents.section(PAGE, "Track record"))) {
            LINK.matcher(row.get(0))
                    .results()
                    .forEach(link -> documented.put(link.group(1), Documents.code(row.get(2))));
        }
        Map<String, String> patches = new TreeMap<>();
        for (String name : mutants().filter(each -> each.startsWith("found/")).toList()) {
            patches.put(name, tests(name).get(0).replaceAll("#.*", ""));
        }

        assertThat(documented).hasSizeGreaterThan(40).isEqualTo(patches);
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void theTestsOfAMutantExist(String name) throws IOException {
        assertThat(tests(name)).isNotEmpty().allSatisfy(test -> {
            String[] parts = test.split("#");
            assertThat(sources(modules(name), parts[0])).as(test).hasSize(1).allSatisfy(source -> {
                if (parts.length > 1) {
                    assertThat(source).content().contains(" void " + parts[1] + "(");
                }
            });
        });
    }

    /** {@code git apply} refuses a patch whose lines have changed, or takes other ones if there are several. */
    @ParameterizedTest
    @MethodSource("mutants")
    void aMutantFitsTheCode(String name) throws IOException {
        for (String change : Files.readString(MUTANTS.resolve(name)).split("(?m)^(?=diff )")) {
            for (MatchResult hunk : HUNK.matcher(change).results().toList()) {
                String before = hunk.group(1)
                        .lines()
                        .filter(line -> !line.startsWith("+"))
                        .map(line -> line.substring(1) + "\n")
                        .collect(Collectors.joining());
                assertThat(changed(change)).hasSize(1);
                assertThat(Documents.read(changed(change).get(0))).containsOnlyOnce(before);
            }
        }
    }

    private static Stream<String> mutants() throws IOException {
        try (Stream<Path> files = Files.walk(MUTANTS)) {
            return files
                    .map(file -> MUTANTS.relativize(file).toString().replace('\\', '/'))
                    .filter(file -> file.endsWith(".patch"))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    private static List<String> tests(String name) throws IOException {
        return CAUGHT_BY
                .matcher(Files.readString(MUTANTS.resolve(name)))
                .results()
                .flatMap(found -> Arrays.stream(found.group(1).split(", *")))
                .toList();
    }

    private static List<String> changed(String patch) {
        return CHANGED.matcher(patch).results().map(found -> found.group(1)).toList();
    }

    /** The directories of the modules that a mutant changes. */
    private static List<String> modules(String name) throws IOException {
        return changed(Files.readString(MUTANTS.resolve(name))).stream()
                .map(file -> file.substring(0, file.indexOf('/')))
                .distinct()
                .toList();
    }

    private static List<Path> sources(List<String> modules, String test) throws IOException {
        assertThat(modules).hasSize(1);
        try (Stream<Path> files =
                Files.walk(Documents.ROOT.resolve(modules.get(0)).resolve("src/test/java"))) {
            return files.filter(file -> file.endsWith(test + ".java")).toList();
        }
    }
}
