package io.dbsemaphore.test.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dbsemaphore.test.TestRun;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;

/** The test of docs/testing.md that needs a server passes where a Docker engine answers. */
class DocumentedContainerIntegrationTests {

    @TempDir
    Path output;

    @Test
    void passes() throws Exception {
        assumeThat(DockerClientFactory.instance().isDockerAvailable())
                .as("A Docker engine answers")
                .isTrue();
        String test = DocumentedProject.tests().stream()
                .filter(each -> DocumentedProject.nameOf(each).equals(DocumentedTestingTests.WITH_CONTAINER))
                .findFirst()
                .orElseThrow();

        try (DocumentedProject project = new DocumentedProject(output)) {
            TestRun run = project.run(test);

            assertThat(run.failures()).isEmpty();
            assertThat(run.succeeded()).isEqualTo(1);
        }
    }
}
