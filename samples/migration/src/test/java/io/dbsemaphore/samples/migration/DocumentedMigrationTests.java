package io.dbsemaphore.samples.migration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The code of docs/migrate.md is that of this module. */
class DocumentedMigrationTests {

    private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern UP_TO_THE_TYPE =
            Pattern.compile("\\A.*?^/\\*\\*.*?\\*/$", Pattern.DOTALL | Pattern.MULTILINE);

    @Test
    void showsTheSources() throws IOException {
        List<String> shown = BLOCK.matcher(Files.readString(Path.of("../../docs/migrate.md")))
                .results()
                .map(block -> block.group(1).strip())
                .toList();

        List<String> sources = Stream.of(
                        "NightlyReport", "PartnerCalls", "Rentals", "Locks", "Notifications", "Exports", "Settlement")
                .flatMap(name -> Stream.of("before/" + name, "after/" + name))
                .map(DocumentedMigrationTests::type)
                .toList();
        assertThat(shown).isEqualTo(sources);
    }

    private static String type(String name) {
        try {
            String source = Files.readString(Path.of("src/main/java/io/dbsemaphore/samples/migration", name + ".java"));
            return UP_TO_THE_TYPE.matcher(source).replaceFirst("").strip();
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }
}
