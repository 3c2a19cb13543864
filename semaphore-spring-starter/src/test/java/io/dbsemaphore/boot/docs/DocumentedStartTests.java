package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/getting-started.md ends at the code of samples/hello, which samples/hello-build builds and tests as a user does. */
class DocumentedStartTests {

    private static final String DOCUMENT = "docs/getting-started.md";
    private static final Path SAMPLE = Documents.ROOT.resolve("samples/hello");

    private static final Pattern FILE =
            Pattern.compile("^`(src/[^`]+)`:\n\n```\\w+\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern CHOICE = Pattern.compile("-d (bootVersion|javaVersion|groupId|artifactId)=(\\S+)");

    @Test
    void endsAtTheFilesOfTheSample() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        FILE.matcher(Documents.read(DOCUMENT)).results().forEach(file -> documented.put(file.group(1), file.group(2)));

        assertThat(documented).isEqualTo(sources());
    }

    @Test
    void addsTheDependenciesOfTheSample() throws IOException {
        String pom = withoutIndentation(Files.readString(SAMPLE.resolve("pom.xml")));

        assertThat(Documents.blocks(DOCUMENT, "xml"))
                .isNotEmpty()
                .allSatisfy(dependencies -> assertThat(pom).contains(withoutIndentation(dependencies)));
    }

    @Test
    void createsTheProjectOfTheSample() throws IOException {
        String pom = Files.readString(SAMPLE.resolve("pom.xml"));
        Map<String, String> elements = Map.of(
                "bootVersion", "version",
                "javaVersion", "java.version",
                "groupId", "groupId",
                "artifactId", "artifactId");
        List<MatchResult> choices =
                CHOICE.matcher(Documents.read(DOCUMENT)).results().toList();

        assertThat(choices).hasSameSizeAs(elements.keySet()).allSatisfy(choice -> {
            String element = elements.get(choice.group(1));
            assertThat(pom).contains("<%s>%s</%s>".formatted(element, choice.group(2), element));
        });
    }

    private static Map<String, String> sources() throws IOException {
        try (Stream<Path> files = Files.walk(SAMPLE.resolve("src"))) {
            return files.filter(Files::isRegularFile)
                    .collect(Collectors.toMap(
                            file -> SAMPLE.relativize(file).toString().replace('\\', '/'),
                            file -> Documents.read("samples/hello/" + SAMPLE.relativize(file)),
                            (one, other) -> one,
                            TreeMap::new));
        }
    }

    private static String withoutIndentation(String text) {
        return text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }
}
