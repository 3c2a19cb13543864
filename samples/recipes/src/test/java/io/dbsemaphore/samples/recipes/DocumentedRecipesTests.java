package io.dbsemaphore.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each example of docs/recipes.md is a file of this module, from the end of its imports, and the document has all of them. */
class DocumentedRecipesTests {

    private static final Path MODULE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    private static final Path SOURCES = MODULE.resolve("src/main");
    private static final Path DOCUMENT = MODULE.resolve("../../docs/recipes.md").normalize();
    private static final Path RECIPES = Path.of("java/io/dbsemaphore/samples/recipes");

    private static final Pattern BLOCK = Pattern.compile("^```(\\w*)$.*?^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern EXAMPLE = Pattern.compile(
            "^\\[`[^`]+`]\\(\\.\\./samples/recipes/src/main/([^)]+)\\):\n\n```\\w+\n(.*?)^```$",
            Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern TEST = Pattern.compile("\\]\\((\\.\\./samples/recipes/src/test/[^)]+Tests\\.java)\\)");
    private static final Pattern UP_TO_IMPORTS =
            Pattern.compile("\\A.*^(?:import|package) [^;]+;\n\n", Pattern.MULTILINE | Pattern.DOTALL);

    @Test
    void showsTheCodeThatIsTested() {
        assertThat(examples())
                .isNotEmpty()
                .allSatisfy(example -> assertThat(example.group(2))
                        .as("the example from %s", example.group(1))
                        .isEqualTo(excerpt(SOURCES.resolve(example.group(1)))));
    }

    @Test
    void showsNoOtherCode() {
        assertThat(examples()).hasSize((int) BLOCK.matcher(document()).results().count());
    }

    @Test
    void showsEachRecipe() throws IOException {
        assertThat(examples()).extracting(example -> example.group(1)).containsExactlyInAnyOrderElementsOf(files());
    }

    @Test
    void saysWhatHappensInEachCase() {
        List<String> sections = Arrays.stream(document().split("\n## "))
                .filter(EXAMPLE.asPredicate())
                .toList();

        assertThat(sections).isNotEmpty().allSatisfy(section -> {
            assertThat(section).contains("* **All permits held:** ", "* **An instance dies:** ", "* **Test:** ");
            assertThat(TEST.matcher(section).results())
                    .isNotEmpty()
                    .allSatisfy(test ->
                            assertThat(DOCUMENT.resolveSibling(test.group(1))).exists());
        });
    }

    private static List<MatchResult> examples() {
        return EXAMPLE.matcher(document()).results().toList();
    }

    private static String excerpt(Path file) {
        String text = read(file);
        return file.toString().endsWith(".java") ? UP_TO_IMPORTS.matcher(text).replaceFirst("") : text;
    }

    /** The classes of the recipes and their properties, without what they have in common. */
    private static List<String> files() throws IOException {
        Predicate<Path> common = file -> file.getParent().equals(RECIPES) || file.endsWith("package-info.java");
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(Files::isRegularFile)
                    .map(SOURCES::relativize)
                    .filter(common.negate())
                    .map(file -> file.toString().replace('\\', '/'))
                    .toList();
        }
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
