package io.dbsemaphore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Links between the documents lead to a file and a heading that exist, and the indexes list each document and each decision. */
class DocumentationLinksTests {

    private static final Path ROOT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
    private static final Path DOCS = ROOT.resolve("docs");
    private static final Path DECISIONS = DOCS.resolve("decisions");

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]*))?\\)");
    private static final Pattern CODE_BLOCK = Pattern.compile("```.*?```", Pattern.DOTALL);
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);

    static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        for (String folder : new String[] {
            "",
            ".github",
            "docs",
            "docs/decisions",
            "samples/backup-service",
            "tools/benchmark",
            "tools/faults",
            "src/release",
            "semaphore-core/src/test/mutants",
            "findings"
        }) {
            try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
                files.filter(file -> file.toString().endsWith(".md")).forEach(documents::add);
            }
        }
        return documents;
    }

    @ParameterizedTest
    @MethodSource("documents")
    void eachLinkLeadsSomewhere(Path document) throws IOException {
        Matcher links = LINK.matcher(text(document));
        while (links.find()) {
            Path target = links.group(1).isEmpty() ? document : document.resolveSibling(links.group(1));
            assertThat(target).as(links.group()).exists();
            if (links.group(2) != null) {
                assertThat(anchors(target)).as(links.group()).contains(links.group(2));
            }
        }
    }

    @Test
    void theIndexListsEachDecision() throws IOException {
        assertThat(linkedFrom(DECISIONS)).containsAll(names(DECISIONS, "\\d{4}-.*\\.md"));
    }

    @Test
    void theIndexListsEachDocument() throws IOException {
        assertThat(linkedFrom(DOCS)).containsAll(names(DOCS, "(?!README).*\\.md"));
    }

    private static Set<String> linkedFrom(Path folder) throws IOException {
        return LINK.matcher(text(folder.resolve("README.md")))
                .results()
                .map(link -> link.group(1))
                .collect(Collectors.toSet());
    }

    private static List<String> names(Path folder, String pattern) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches(pattern))
                    .toList();
        }
    }

    private static String text(Path document) throws IOException {
        return CODE_BLOCK.matcher(Files.readString(document)).replaceAll("");
    }

    /** The anchors of the headings, as GitHub makes them. */
    private static Set<String> anchors(Path document) throws IOException {
        return HEADING.matcher(text(document))
                .results()
                .map((MatchResult heading) -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }
}
