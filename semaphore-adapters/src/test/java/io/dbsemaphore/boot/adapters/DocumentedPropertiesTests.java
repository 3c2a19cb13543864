package io.dbsemaphore.boot.adapters;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.io.UrlResource;

/** The table of properties in docs/reference.md is what can be configured, and no document names another property. */
class DocumentedPropertiesTests {

    private static final String REFERENCE = "docs/reference.md";
    private static final Pattern MENTION =
            Pattern.compile("`((?:management\\.endpoint\\.semaphores|semaphore)\\.[a-z0-9.-]*[a-z0-9])");

    @Test
    void areAllThatThereAreWithTheirDefaults() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        List<List<String>> rows = Documents.rows(Documents.section(REFERENCE, "Properties"));
        rows.forEach(row -> documented.put(Documents.code(row.get(0)), row.get(1)));
        Map<String, String> described = described();

        assertThat(rows).as("properties that are listed twice").hasSameSizeAs(documented.keySet());
        assertThat(documented.keySet()).isEqualTo(described.keySet());
        assertThat(rows).allSatisfy(row -> assertThat(row.get(2)).isNotBlank());
        described.forEach((property, defaultValue) -> {
            if (!defaultValue.isEmpty()) {
                assertThat(documented.get(property))
                        .as("the default of %s", property)
                        .isEqualTo("`" + defaultValue + "`");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "CONTRIBUTING.md",
                "AGENTS.md",
                REFERENCE,
                "docs/README.md",
                "docs/getting-started.md",
                "docs/assistants.md",
                "docs/operations.md",
                "docs/hosts.md",
                "docs/adapters.md",
                "docs/recipes.md",
                "docs/databases.md",
                "samples/backup-service/README.md",
                "tools/benchmark/README.md",
                "tools/faults/README.md"
            })
    void areTheOnlyOnesThatDocumentsName(String document) throws IOException {
        Map<String, String> described = described();

        assertThat(MENTION.matcher(Documents.read(document)).results().map(mention -> mention.group(1)))
                .allMatch(name -> isKnown(name, described), "is a property, or the beginning or an entry of some");
    }

    private static boolean isKnown(String name, Map<String, String> described) {
        return described.keySet().stream()
                .anyMatch(property -> property.equals(name)
                        || property.startsWith(name + ".")
                        || (isMap(property) && name.startsWith(property + ".")));
    }

    private static boolean isMap(String property) {
        return property.equals("semaphore.semaphores") || property.equals("semaphore.patterns");
    }

    /** The defaults by property, empty where there is none, from what the builds of the starter and of the adapters make for editors. */
    @SuppressWarnings("unchecked")
    private static Map<String, String> described() throws IOException {
        Map<String, String> described = new TreeMap<>();
        ClassLoader classPath = DocumentedPropertiesTests.class.getClassLoader();
        for (URL file : Collections.list(classPath.getResources("META-INF/spring-configuration-metadata.json"))) {
            String metadata = new UrlResource(file).getContentAsString(StandardCharsets.UTF_8);
            for (Object each : (List<Object>)
                    JsonParserFactory.getJsonParser().parseMap(metadata).get("properties")) {
                Map<String, Object> property = (Map<String, Object>) each;
                String name = (String) property.get("name");
                if (!property.containsKey("deprecation")
                        && (name.startsWith("semaphore.") || name.startsWith("management.endpoint.semaphores."))) {
                    described.put(name, String.valueOf(property.getOrDefault("defaultValue", "")));
                }
            }
        }
        return described;
    }
}
