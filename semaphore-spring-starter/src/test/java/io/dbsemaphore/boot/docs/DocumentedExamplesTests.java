package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.BoundSemaphores;
import io.dbsemaphore.testing.Documents;
import io.dbsemaphore.testing.ExampleCompiler;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;

/** What is to be copied from the documents compiles, and is bound as it reads. */
class DocumentedExamplesTests {

    @TempDir
    Path output;

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/reference.md"})
    void compiles(String document) {
        ExampleCompiler compiler = new ExampleCompiler(output);

        assertThat(Documents.blocks(document, "java"))
                .isNotEmpty()
                .allSatisfy(example -> assertThat(compiler.errors(example)).isEmpty());
    }

    @Test
    void theYamlOfTheReadmeIsBoundAsItReads() throws IOException {
        BoundSemaphores bound = bindYaml("README.md");

        assertThat(bound.semaphores()).containsOnlyKeys("backup", "network");
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
        Properties properties = new Properties();
        properties.load(new StringReader(
                Documents.blocks("docs/reference.md", "properties").get(0)));
        BoundSemaphores bound = BoundSemaphores.of(new PropertiesPropertySource("properties", properties));

        assertThat(bound.semaphores()).containsOnlyKeys("backup");
        assertThat(bound.patterns()).containsOnlyKeys("tenant:*");
    }

    @Test
    void theChangelogToIncludeIsThere() {
        Matcher include = Pattern.compile("file: (\\S+)").matcher(Documents.read("README.md"));

        assertThat(include.find()).isTrue();
        assertThat(new ClassPathResource(include.group(1)).exists()).isTrue();
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
