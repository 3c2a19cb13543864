package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/guarantees.md names a test that exists for each guarantee, and {@code mvn verify} runs one of them. */
class DocumentedGuaranteesTests {

    private static final String PAGE = "docs/guarantees.md";
    private static final Pattern TEST = Pattern.compile("`(\\w+Tests)(?:#(\\w+))?`");
    private static final Pattern GUARANTEE = Pattern.compile("^\\* \\*\\*(.+?)\\*\\*", Pattern.MULTILINE);
    /** Tags that the build leaves out, on a class or on a method. */
    private static final String TAGS = "Slow|Clustered|FaultSuite";

    private static final Pattern LEFT_OUT = Pattern.compile("^ *@(" + TAGS + ")$", Pattern.MULTILINE);

    /** By simple names, which two classes may share. */
    private static final Map<String, String> SOURCES = new HashMap<>();

    @BeforeAll
    static void readTests() throws IOException {
        for (String module : List.of("semaphore-core", "semaphore-spring-starter", "semaphore-adapters")) {
            try (Stream<Path> files = Files.walk(Documents.ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(each -> each.toString().endsWith("Tests.java"))
                        .toList()) {
                    SOURCES.merge(
                            file.getFileName().toString().replace(".java", ""), Files.readString(file), String::concat);
                }
            }
        }
    }

    @Test
    void theReadmesGuaranteesHaveATest() {
        List<String> guarantees = GUARANTEE
                .matcher(Documents.section("README.md", "What it guarantees"))
                .results()
                .map(found -> found.group(1))
                .toList();

        assertThat(firstCells(Documents.section(PAGE, "In the README")))
                .hasSizeGreaterThan(5)
                .isEqualTo(guarantees);
    }

    /** One of the tests in its row, so that a reader sees at once that there is one. */
    @Test
    void eachGuaranteeOfTheReadmeNamesOneOfItsTests() {
        List<String> guarantees = Arrays.stream(
                        Documents.section("README.md", "What it guarantees").split("(?m)^\\* \\*\\*"))
                .skip(1)
                .toList();
        List<List<String>> rows = Documents.rows(Documents.section(PAGE, "In the README"));

        assertThat(guarantees).hasSameSizeAs(rows);
        for (int i = 0; i < rows.size(); i++) {
            List<String> tests = TEST.matcher(guarantees.get(i))
                    .results()
                    .map(MatchResult::group)
                    .toList();
            assertThat(tests).as(guarantees.get(i)).hasSize(1);
            assertThat(rows.get(i).get(1)).contains(tests);
        }
    }

    @ParameterizedTest
    @CsvSource({"Order, Tests of the order", "Reuse, Tests of reuse"})
    void eachRowHasATest(String heading, String tests) {
        String[] halves = Documents.section(PAGE, heading).split("\n### " + tests + "\n");

        assertThat(firstCells(halves[1])).hasSizeGreaterThan(10).isEqualTo(firstCells(halves[0]));
    }

    @Test
    void theTestsExist() {
        List<MatchResult> named = TEST.matcher(Documents.read(PAGE)).results().toList();

        assertThat(named).hasSizeGreaterThan(50);
        assertThat(named.stream().filter(test -> !exists(test)).map(MatchResult::group))
                .as("named, but not there")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"In the README", "Order", "Reuse"})
    void theBuildRunsATestOfEach(String heading) {
        String text = Documents.section(PAGE, heading);
        List<List<String>> promises = Documents.rows(text.substring(text.indexOf("| | Held by |")));

        assertThat(promises)
                .isNotEmpty()
                .allSatisfy(row -> assertThat(TEST.matcher(row.get(1)).results())
                        .as(row.get(0))
                        .anyMatch(test -> exists(test) && isRunByTheBuild(test)));
    }

    /** What must not happen even once: a failed assertion of these tests is final. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Never over capacity",
                "All or nothing",
                "One grant per external id",
                "An acquire that throws holds nothing.",
                "A stale holder can be stopped"
            })
    void theTestsOfAPromiseAreNotRunAgain(String promise) {
        List<String> row = Documents.rows(Documents.section(PAGE, "In the README")).stream()
                .filter(each -> each.get(0).equals(promise))
                .findFirst()
                .orElseThrow();

        assertThat(TEST.matcher(row.get(1)).results())
                .isNotEmpty()
                .allSatisfy(test ->
                        assertThat(SOURCES.get(test.group(1))).as(test.group()).containsPattern("(?m)^@Promise$"));
    }

    /** Whether neither the class has a tag that leaves it out nor the method, or any of its methods if none is named. */
    private static boolean isRunByTheBuild(MatchResult test) {
        String source = SOURCES.get(test.group(1));
        return test.group(2) == null
                ? !LEFT_OUT.matcher(source).find()
                : !source.matches("(?s).*\n@(" + TAGS + ")\n.*")
                        && !source.matches("(?s).*\n    @(" + TAGS + ")\n(    @[^\n]*\n|        [^\n]*\n)*    void "
                                + test.group(2) + "\\(.*");
    }

    private static boolean exists(MatchResult test) {
        String source = SOURCES.get(test.group(1));
        return source != null && (test.group(2) == null || source.contains(" void " + test.group(2) + "("));
    }

    private static List<String> firstCells(String text) {
        return Documents.rows(text).stream().map(row -> row.get(0)).toList();
    }
}
