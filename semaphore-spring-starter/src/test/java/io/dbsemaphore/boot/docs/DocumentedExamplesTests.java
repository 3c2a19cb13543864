package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.BoundSemaphores;
import io.dbsemaphore.testing.Documents;
import io.dbsemaphore.testing.ExampleCompiler;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;

/** What is to be copied from the documents compiles, and is bound as it reads. */
class DocumentedExamplesTests {

    /** Documents whose examples the tests of a sample, or of another module, hold. */
    private static final Set<String> ELSEWHERE = Set.of(
            "docs/recipes.md", "docs/migrate.md", "docs/adapters.md", "docs/testing.md", "docs/getting-started.md");

    @TempDir
    Path output;

    static List<String> documentsWithJava() throws IOException {
        return Documents.forUsers().stream()
                .filter(document -> !ELSEWHERE.contains(document)
                        && !Documents.blocks(document, "java").isEmpty())
                .toList();
    }

    @Test
    void areLookedForInEachDocument() throws IOException {
        assertThat(documentsWithJava()).contains("README.md", "docs/reference.md", "docs/assistants.md");
    }

    /** One after the other, since an example may use those before it in its document. */
    @ParameterizedTest
    @MethodSource("documentsWithJava")
    void compiles(String document) {
        ExampleCompiler compiler = new ExampleCompiler(output);

        for (String example : Documents.blocks(document, "java")) {
            assertThat(compiler.errors(example)).as(example).isEmpty();
        }
    }

    @Test
    void theYamlOfTheReadmeIsBoundAsItReads() throws IOException {
        BoundSemaphores bound = bindYaml("README.md");

        assertThat(bound.semaphores()).containsOnlyKeys("partner");
        assertThat(bound.patterns()).containsExactly(Map.entry("tenant:*", 5));
    }

    @Test
    void theYamlForAssistantsIsBoundAsItReads() throws IOException {
        BoundSemaphores bound = bindYaml("docs/assistants.md");

        assertThat(bound.semaphores()).containsOnlyKeys("report");
        assertThat(bound.patterns()).containsExactly(Map.entry("tenant:*", 2));
    }

    @Test
    void theYamlOfTheReferenceIsBoundAsItReads() throws IOException {
        BoundSemaphores bound = bindYaml("docs/reference.md");

        assertThat(bound.semaphores()).containsOnlyKeys("backup", "eu.west/nightly", "maintenance-window");
        assertThat(bound.patterns()).containsOnlyKeys("tenant:*", "tenant:premium-*");
    }

    @Test
    void thePropertiesOfTheReferenceAreBoundAsTheyRead() throws IOException {
        BoundSemaphores bound = bindProperties("docs/reference.md");

        assertThat(bound.semaphores()).containsOnlyKeys("backup");
        assertThat(bound.patterns()).containsOnlyKeys("tenant:*");
    }

    @Test
    void theChangelogToIncludeIsThere() {
        Matcher include = Pattern.compile("file: (\\S+)").matcher(Documents.read("docs/hosts.md"));

        assertThat(include.find()).isTrue();
        assertThat(new ClassPathResource(include.group(1)).exists()).isTrue();
    }

    private static BoundSemaphores bindProperties(String document) throws IOException {
        Properties properties = new Properties();
        properties.load(
                new StringReader(Documents.blocks(document, "properties").get(0)));
        return BoundSemaphores.of(new PropertiesPropertySource(document, properties));
    }

    private static BoundSemaphores bindYaml(String document) throws IOException {
        String yaml = Documents.blocks(document, "yaml").stream()
                .filter(block -> block.startsWith("semaphore:"))
                .findFirst()
                .orElseThrow();
        return BoundSemaphores.of(new YamlPropertySourceLoader()
                .load(document, new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                .get(0));
    }
}
