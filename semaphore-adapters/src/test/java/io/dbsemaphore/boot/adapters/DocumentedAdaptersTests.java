package io.dbsemaphore.boot.adapters;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import io.dbsemaphore.testing.ExampleCompiler;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is to be copied from docs/adapters.md compiles. */
class DocumentedAdaptersTests {

    @Test
    void theExamplesCompile(@TempDir Path output) {
        ExampleCompiler compiler = new ExampleCompiler(output);

        assertThat(Documents.blocks("docs/adapters.md", "java"))
                .isNotEmpty()
                .allSatisfy(example -> assertThat(compiler.errors(example)).isEmpty());
    }
}
