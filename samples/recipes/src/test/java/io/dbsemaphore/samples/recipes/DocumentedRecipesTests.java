package io.dbsemaphore.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each example of docs/recipes.md is a part of a file of this module, and each recipe of this module has a section, with a command that runs
 * its test.
 */
class DocumentedRecipesTests {

    private static final Path MODULE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    private static final Path SOURCES = MODULE.resolve("src/main");
    private static final Path DOCUMENT = MODULE.resolve("../../docs/recipes.md").normalize();
    private static final String RECIPES = "io/dbsemaphore/samples/recipes/";
    private static final int LONGEST_DOCUMENT = 2300;

    private static final Pattern BLOCK = Pattern.compile("^```(\\w+)$.*?^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern EXAMPLE = Pattern.compile(
            "^\\[`[^`]+`]\\(\\.\\./samples/recipes/src/main/([^)]+)\\):\n\n```\\w+\n(.*?)^```$",
            Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern PACKAGE = Pattern.compile("src/main/java/" + RECIPES + "(\\w+)/");
    private static final Pattern COMMAND = Pattern.compile(
            "^`samples/recipes/run (\\w+)`\\s+\\(\\[test]\\(\\.\\./samples/recipes/(src/test/[^)]+)\\)\\)\\s+\\w",
            Pattern.MULTILINE);

    @Test
    void showsTheCodeThatIsTested() {
        assertThat(examples())
                .isNotEmpty()
                .allSatisfy(example -> assertThat(withoutIndentation(read(SOURCES.resolve(example.group(1)))))
                        .as("the file with this example")
                        .contains(withoutIndentation(example.group(2))));
    }

    @Test
    void showsNoOtherCode() {
        assertThat(examples()).hasSize((int) BLOCK.matcher(document()).results().count());
    }

    @Test
    void showsEachRecipeWithItsPropertiesAndACommand() throws IOException {
        Set<String> shown = new TreeSet<>();
        for (String section : sections()) {
            String recipe = only(PACKAGE, section);
            MatchResult command = COMMAND.matcher(section)
                    .results()
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("No command, or not what it shows: " + section));
            shown.add(recipe);
            assertThat(section).contains("/resources/application-" + recipe + ".yaml):");
            assertThat(command.group(2))
                    .isEqualTo("src/test/java/%s%s/%sRecipeIntegrationTests.java"
                            .formatted(RECIPES, recipe, command.group(1)));
            assertThat(MODULE.resolve(command.group(2))).exists();
        }

        assertThat(shown).isEqualTo(recipes());
    }

    @Test
    void isShort() {
        assertThat(document().split("\\s+")).hasSizeLessThanOrEqualTo(LONGEST_DOCUMENT);
    }

    private static List<String> sections() {
        return Arrays.stream(document().split("\n## ")).skip(1).toList();
    }

    private static List<MatchResult> examples() {
        return EXAMPLE.matcher(document()).results().toList();
    }

    /** The packages of the recipes. */
    private static Set<String> recipes() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES.resolve("java").resolve(RECIPES))) {
            return files.filter(Files::isDirectory)
                    .map(directory -> directory.getFileName().toString())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static String only(Pattern pattern, String section) {
        Set<String> found =
                pattern.matcher(section).results().map(each -> each.group(1)).collect(Collectors.toSet());
        assertThat(found).as("the recipes in a section").hasSize(1);
        return found.iterator().next();
    }

    /** YAML keeps its indentation, since a part of it would mean something else. */
    private static String withoutIndentation(String text) {
        return text.startsWith("semaphore:")
                ? text
                : text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }

    private static String document() {
        return read(DOCUMENT);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
