package io.dbsemaphore.boot.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.MutexPattern;
import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties;
import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        String api = PublicApi.ofModule(SemaphoreProperties.class, MutexPattern.class::equals)
                .describe(
                        "io.dbsemaphore.boot.autoconfigure",
                        "io.dbsemaphore.boot.integration",
                        "io.dbsemaphore.boot.metrics",
                        "io.dbsemaphore.boot.shedlock");
        Files.writeString(Files.createDirectories(Path.of("target")).resolve("public-api.txt"), api);

        assertThat(api.lines())
                .as(
                        "The public API has changed. A line that is missing breaks applications (CONTRIBUTING.md, Versions)."
                                + " If that is meant, copy target/public-api.txt to src/test/api/public-api.txt")
                .containsExactlyElementsOf(Files.readAllLines(Path.of("src/test/api/public-api.txt")));
    }
}
