package io.dbsemaphore.boot.docs;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The README claims no version that neither CI nor a job of the workflow runs, and leaves none of theirs out. */
class DocumentedVersionsTests {

    private static final String CI = Documents.read(".ci/run");
    private static final String WORKFLOW = Documents.read(".github/workflows/build.yml");
    private static final Pattern VERSION = Pattern.compile("\\b\\d+(?:\\.\\d+)*(?:-M\\d+)?");

    @ParameterizedTest
    @CsvSource({"MySQL, mysql, mysql", "MariaDB, mariadb, mariadb", "PostgreSQL, postgresql, postgres"})
    void ofADatabase(String product, String database, String image) {
        List<String> row = row(product);
        Set<String> ofCi = found("(?m)^image " + image + ":(\\S+)", CI);
        Set<String> variants = found("(?m)^ +- " + database + "-([\\d.]+)$", WORKFLOW);

        assertThat(versions(row.get(2))).as("in every run of CI").isEqualTo(ofCi);
        assertThat(versions(row.get(3))).as("jobs of the workflow").isEqualTo(variants);
        assertThat(variants)
                .allSatisfy(version -> assertThat(
                                Documents.read("src/test/variants/%s-%s.properties".formatted(database, version)))
                        .isEqualTo("semaphore.test.database=%s:%s\n".formatted(database, version)));
        assertThat(variants).as("the oldest one").contains(row.get(1).replace("+", ""));
    }

    @ParameterizedTest
    @CsvSource({"MySQL, MySQL", "MariaDB, MariaDB", "PostgreSQL, PostgreSQL", "'H2, for tests and demos', H2"})
    void areThoseOfTheRefusalOfAnyOtherDatabase(String product, String name) {
        assertThat(Documents.read(
                        "semaphore-core/src/main/java/io/dbsemaphore/engine/UnsupportedDatabaseException.java"))
                .containsPattern("SUPPORTED = \".*\\b"
                        + Pattern.quote(name + " " + row(product).get(1)) + "[,\" ]");
    }

    @Test
    void ofSpringBoot() {
        List<String> row = row("Spring Boot");
        Set<String> ofCi = found("<spring-boot.version>(.*?)</", Documents.read("pom.xml"));
        ofCi.addAll(found("-Dspring-boot.version=(\\S+)", CI));
        Set<String> jobs =
                versions(found("(?m)^ +spring-boot: \\[(.*)]$", WORKFLOW).toString());

        assertThat(versions(row.get(2))).as("in every run of CI").isEqualTo(ofCi);
        assertThat(versions(row.get(3))).as("jobs of the workflow").isEqualTo(jobs);
        assertThat(jobs).as("the oldest one").containsAnyElementsOf(versions(row.get(1)));
    }

    @Test
    void ofJava() {
        List<String> row = row("Java");
        Set<String> all = versions(row.get(2));
        all.addAll(versions(row.get(3)));

        assertThat(all)
                .isEqualTo(versions(found("(?m)^ +java: \\[(.*)]$", WORKFLOW).toString()));
        assertThat(versions(row.get(1))).isEqualTo(found("<java.version>(.*?)</", Documents.read("pom.xml")));
    }

    private static List<String> row(String product) {
        return Documents.rows(Documents.section("README.md", "Add it")).stream()
                .filter(row -> row.get(0).equals(product))
                .findFirst()
                .orElseThrow(() -> new AssertionError("README.md has no row of " + product));
    }

    private static Set<String> versions(String text) {
        return VERSION.matcher(text.replaceAll("\\(.*?\\)", ""))
                .results()
                .map(found -> found.group())
                .collect(toCollection(TreeSet::new));
    }

    private static Set<String> found(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(toCollection(TreeSet::new));
    }
}
