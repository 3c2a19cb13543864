package io.dbsemaphore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An operator who sees a warning finds its beginning in docs/operations.md, and nothing there that no code says. */
class DocumentedWarningsTests {

    private static final Path ROOT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();

    private static final Pattern CALL =
            Pattern.compile("\\.(?:warn|error)\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"[\\s+]*)+)");
    private static final Pattern UNREADABLE = Pattern.compile("log\\.(?:warn|error)\\(\\s*[^\\s\"]");
    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
    /** A message up to the end of its first clause: the rest of it says what to do. */
    private static final Pattern BEGINNING = Pattern.compile("(.+?)(?:[:;.] .*|:)?");

    private static final Pattern ENTRY = Pattern.compile("^\\* `([^`]+)`:\\s", Pattern.MULTILINE);

    @Test
    void eachWarningIsDocumentedByItsBeginning() throws IOException {
        Set<String> logged = new TreeSet<>();
        for (String module : new String[] {"semaphore-core", "semaphore-spring-starter", "semaphore-adapters"}) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(file -> addWarnings(file, logged));
            }
        }

        List<String> beginnings =
                logged.stream().map(DocumentedWarningsTests::beginning).sorted().toList();
        assertThat(beginnings).hasSizeGreaterThan(10).doesNotHaveDuplicates();
        assertThat(documented()).isEqualTo(beginnings);
    }

    private static void addWarnings(Path file, Set<String> warnings) {
        try {
            String source = Files.readString(file);
            assertThat(UNREADABLE.matcher(source).find())
                    .as("%s logs a message that is not a literal", file)
                    .isFalse();
            Matcher calls = CALL.matcher(source);
            while (calls.find()) {
                StringBuilder message = new StringBuilder();
                Matcher literals = LITERAL.matcher(calls.group(1));
                while (literals.find()) {
                    message.append(literals.group(1));
                }
                warnings.add(message.toString().replace("{}", "…"));
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String beginning(String message) {
        Matcher beginning = BEGINNING.matcher(message);
        assertThat(beginning.matches()).as(message).isTrue();
        return beginning.group(1);
    }

    private static List<String> documented() throws IOException {
        String operations = Files.readString(ROOT.resolve("docs/operations.md"));
        int begin = operations.indexOf("\n## What each warning means\n");
        assertThat(begin).isPositive();
        Matcher entries = ENTRY.matcher(operations.substring(begin, operations.indexOf("\n## ", begin + 1)));
        return entries.results().map(entry -> entry.group(1)).sorted().toList();
    }
}
