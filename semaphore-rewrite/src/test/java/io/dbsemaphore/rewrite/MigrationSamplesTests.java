package io.dbsemaphore.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openrewrite.InMemoryExecutionContext;
import org.openrewrite.Result;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.InMemoryLargeSourceSet;
import org.openrewrite.properties.PropertiesParser;

/** The recipes make of each sample in docs/migrate.md, as it was before, the one after, apart from line breaks. */
class MigrationSamplesTests {

    private static final Path SAMPLES = Path.of("../samples/migration/src");
    private static final String PACKAGE = "io/dbsemaphore/samples/migration";
    /** The settings of samples that have no recipe. */
    private static final int BY_HAND = 2;

    private static final Pattern UP_TO_THE_TYPE =
            Pattern.compile("\\A.*?(?=^/\\*\\*)", Pattern.DOTALL | Pattern.MULTILINE);

    @ParameterizedTest
    @CsvSource({
        "FromShedLock, NightlyReport",
        "FromRedisson, PartnerCalls",
        "FromRedisson, Rentals",
        "FromJdbcLockRegistry, Locks",
        "FromJdbcLockRegistry, CustomerFiles",
        "FromConcurrencyLimit, Notifications"
    })
    void areMigrated(String recipe, String sample) throws IOException {
        SourceFile before = before(sample);
        String after = Files.readString(SAMPLES.resolve("main/java/" + PACKAGE + "/after/" + sample + ".java"));

        String migrated = migrated(recipe, List.of(before)).getOrDefault(before.getSourcePath(), before.printAll());

        assertThat(type(migrated)).isEqualToIgnoringWhitespace(type(after));
        assertThat(imports(migrated)).containsExactlyInAnyOrderElementsOf(imports(after));
    }

    @Test
    void getTheSettingsThatTheyRunWith() throws IOException {
        Path path = Path.of("src/main/resources/application.properties");
        SourceFile none =
                new PropertiesParser().parse("").findFirst().orElseThrow().withSourcePath(path);
        List<String> set = new ArrayList<>();
        for (String recipe : List.of("FromJdbcLockRegistry", "FromShedLock", "FromRedisson", "FromConcurrencyLimit")) {
            List<SourceFile> files = new ArrayList<>(List.of(none));
            for (String sample :
                    List.of("NightlyReport", "PartnerCalls", "Rentals", "Locks", "CustomerFiles", "Notifications")) {
                files.add(before(sample));
            }
            migrated(recipe, files)
                    .get(path)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .forEach(set::add);
        }

        assertThat(Files.readAllLines(SAMPLES.resolve("test/resources/application.properties")))
                .filteredOn(line -> line.startsWith("semaphore."))
                .containsAll(set)
                .hasSize(set.size() + BY_HAND);
    }

    private static SourceFile before(String sample) throws IOException {
        String path = "main/java/" + PACKAGE + "/before/" + sample + ".java";
        String source = Files.readString(SAMPLES.resolve(path)).replace("migration.before", "migration.after");
        return RecipeTest.parser()
                .build()
                .parse(source)
                .findFirst()
                .orElseThrow()
                .withSourcePath(Path.of("src", path));
    }

    private static Map<Path, String> migrated(String recipe, List<SourceFile> files) {
        InMemoryExecutionContext ctx = new InMemoryExecutionContext(failure -> {
            throw new AssertionError(failure);
        });
        return RecipesTests.ENVIRONMENT
                .activateRecipes("io.dbsemaphore.rewrite." + recipe)
                .run(new InMemoryLargeSourceSet(files), ctx)
                .getChangeset()
                .getAllResults()
                .stream()
                .map(Result::getAfter)
                .collect(Collectors.toMap(SourceFile::getSourcePath, SourceFile::printAll));
    }

    private static String type(String source) {
        return UP_TO_THE_TYPE.matcher(source).replaceFirst("");
    }

    private static List<String> imports(String source) {
        return source.lines().filter(line -> line.startsWith("import ")).toList();
    }
}
