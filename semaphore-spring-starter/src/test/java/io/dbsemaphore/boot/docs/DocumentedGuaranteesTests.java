package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    /** An entry of a list: a name in bold, perhaps with its full stop, and the text up to the next entry or an empty line. */
    private static final Pattern GUARANTEE =
            Pattern.compile("^\\* \\*\\*(.+?)\\.?\\*\\*((?:(?!\n\n|\n\\* ).)*)", Pattern.MULTILINE | Pattern.DOTALL);

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
        assertThat(names(Documents.section(PAGE, "In the README")))
                .hasSizeGreaterThan(5)
                .isEqualTo(names(Documents.section("README.md", "What it guarantees")));
    }

    /** One of the tests of its entry, so that a reader sees at once that there is one. */
    @Test
    void eachGuaranteeOfTheReadmeNamesOneOfItsTests() {
        List<Guarantee> guarantees = guarantees(Documents.section("README.md", "What it guarantees"));
        List<Guarantee> entries = guarantees(Documents.section(PAGE, "In the README"));

        assertThat(guarantees).hasSameSizeAs(entries);
        for (int i = 0; i < entries.size(); i++) {
            List<String> tests = TEST.matcher(guarantees.get(i).text())
                    .results()
                    .map(MatchResult::group)
                    .toList();
            assertThat(tests).as(guarantees.get(i).name()).hasSize(1);
            assertThat(entries.get(i).text()).contains(tests);
        }
    }

    @ParameterizedTest
    @CsvSource({"Order, Tests of the order", "Reuse, Tests of reuse"})
    void eachEntryHasATest(String heading, String tests) {
        String[] halves = Documents.section(PAGE, heading).split("\n### " + tests + "\n");

        assertThat(names(halves[1])).hasSizeGreaterThan(10).isEqualTo(names(halves[0]));
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
        List<Guarantee> promises = guarantees(text.substring(text.indexOf("\n### ") + 1));

        assertThat(promises)
                .isNotEmpty()
                .allSatisfy(promise -> assertThat(TEST.matcher(promise.text()).results())
                        .as(promise.name())
                        .anyMatch(test -> exists(test) && isRunByTheBuild(test)));
    }

    /** What must not happen even once: a failed assertion of these tests is final. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Never over capacity",
                "All or nothing",
                "One grant per external id",
                "An acquire that throws holds nothing",
                "A stale holder can be stopped"
            })
    void theTestsOfAPromiseAreNotRunAgain(String promise) {
        Guarantee entry = guarantees(Documents.section(PAGE, "In the README")).stream()
                .filter(each -> each.name().equals(promise))
                .findFirst()
                .orElseThrow();

        assertThat(TEST.matcher(entry.text()).results())
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

    private static List<String> names(String text) {
        return guarantees(text).stream().map(Guarantee::name).toList();
    }

    private static List<Guarantee> guarantees(String text) {
        return GUARANTEE
                .matcher(text)
                .results()
                .map(found -> new Guarantee(found.group(1), found.group(2)))
                .toList();
    }

    /** A promise, and what is said about it. */
    private record Guarantee(String name, String text) {}
}
