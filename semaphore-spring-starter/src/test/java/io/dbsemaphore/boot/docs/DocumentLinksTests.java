package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links between the documents lead somewhere, and what CONTRIBUTING.md names exists. */
class DocumentLinksTests {

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|mailto:)([^)#\\s]*)(?:#([^)\\s]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
    private static final Pattern PACKAGE = Pattern.compile("`(io\\.dbsemaphore[a-z.]*)`");
    private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]+(?:[A-Z0-9][A-Za-z0-9]*)+)`");

    @Test
    void leadToFilesAndHeadingsThatExist() {
        List<String> dead = new ArrayList<>();
        for (String document : Documents.all()) {
            Matcher link = LINK.matcher(Documents.read(document));
            while (link.find()) {
                Path target = link.group(1).isEmpty()
                        ? Documents.ROOT.resolve(document)
                        : Documents.ROOT.resolve(document).resolveSibling(link.group(1));
                boolean found = Files.exists(target)
                        && (link.group(2) == null || headings(target).contains(link.group(2)));
                if (!found) {
                    dead.add(document + ": " + link.group());
                }
            }
        }

        assertThat(dead).isEmpty();
    }

    @Test
    void contributorsAreToldOfEachPackage() throws IOException {
        Set<String> named = PACKAGE.matcher(Documents.section("CONTRIBUTING.md", "Where things are"))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> existing = new TreeSet<>();
        for (String module : List.of("semaphore-core", "semaphore-spring-starter")) {
            Path sources = Documents.ROOT.resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.endsWith("package-info.java"))
                        .map(file -> sources.relativize(file.getParent()).toString())
                        .forEach(directory -> existing.add(directory.replaceAll("[/\\\\]", ".")));
            }
        }

        assertThat(named).isEqualTo(existing);
    }

    @Test
    void contributorsAreToldOfTypesThatExist() throws IOException {
        Set<String> sources;
        try (Stream<Path> files = Files.walk(Documents.ROOT)) {
            sources = files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".java"))
                    .map(file -> file.replace(".java", ""))
                    .collect(Collectors.toSet());
        }

        assertThat(TYPE.matcher(Documents.read("CONTRIBUTING.md")).results().map(found -> found.group(1)))
                .isNotEmpty()
                .allMatch(sources::contains, "is a type of this repository");
    }

    /** As they are linked to: lower case, without punctuation, dashes for spaces. */
    private static List<String> headings(Path document) {
        return HEADING.matcher(Documents.read(
                        Documents.ROOT.relativize(document.normalize()).toString()))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .toList();
    }
}
