package io.dbsemaphore.test.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.test.TestRun;
import io.dbsemaphore.testing.Documents;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The tests of docs/testing.md compile and pass, and its unit test is as short and as fast as it should be. */
class DocumentedTestingTests {

    static final String WITH_CONTAINER = "QuoteDatabaseTests";

    @TempDir
    static Path output;

    private static DocumentedProject project;

    @BeforeAll
    static void compileProject() throws Exception {
        project = new DocumentedProject(output);
    }

    @AfterAll
    static void closeProject() throws Exception {
        project.close();
    }

    /** Those that need no server. */
    static Stream<String> tests() {
        return DocumentedProject.tests().stream()
                .filter(test -> !DocumentedProject.nameOf(test).equals(WITH_CONTAINER));
    }

    @ParameterizedTest
    @MethodSource("tests")
    void pass(String test) throws Exception {
        TestRun run = project.run(test);

        assertThat(run.failures()).isEmpty();
        assertThat(run.succeeded()).isEqualTo(1);
    }

    @Test
    void thereIsOneForEachKind() {
        assertThat(DocumentedProject.tests())
                .extracting(DocumentedProject::nameOf)
                .containsExactly(
                        "QuoteUnitTests", "QuoteTimeTests", "QuoteSliceTests", "QuoteTransactionTests", WITH_CONTAINER);
    }

    @Test
    void theUnitTestHasTenLines() {
        String test = DocumentedProject.tests().get(0);

        assertThat(test.substring(test.indexOf("class ")).lines().filter(line -> !line.isBlank()))
                .hasSizeLessThanOrEqualTo(10);
    }

    /** With the loading of Spring's classes, if no other test has loaded them. */
    @Test
    void theUnitTestTakesASecond() throws Exception {
        String test = DocumentedProject.tests().get(0);

        assertThat(project.run(test).cpuTime()).isLessThan(Duration.ofSeconds(1));
    }

    @Test
    void thePageIsShort() {
        assertThat(Documents.read("docs/testing.md").split("\\s+")).hasSizeLessThanOrEqualTo(700);
    }
}
