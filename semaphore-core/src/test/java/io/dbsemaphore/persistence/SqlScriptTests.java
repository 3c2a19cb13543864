package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.DatabaseKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The SQL scripts correspond to the changelog, for all databases, whichever one these tests run on. */
class SqlScriptTests {

    @ParameterizedTest
    @EnumSource(DatabaseKind.class)
    void isTheChangelogInTheSqlOfTheDatabase(DatabaseKind kind) throws Exception {
        String generated = ChangelogScript.of(kind);

        assertThat(shipped(kind))
                .as("the shipped script; the script generated from the changelog is in %s", keep(kind, generated))
                .isEqualTo(generated);
    }

    /** A script that ended halfway is recognized by its last column: {@code TableCheck} looks at tables and columns only. */
    @ParameterizedTest
    @EnumSource(DatabaseKind.class)
    void endsWithAColumn(DatabaseKind kind) throws Exception {
        String script = shipped(kind).toLowerCase(Locale.ROOT);

        assertThat(script.substring(script.lastIndexOf("alter table")))
                .as("the last statement")
                .matches("(?s)alter table \\w+ add (column )?.*")
                .doesNotContain("create index", "constraint");
    }

    private static String shipped(DatabaseKind kind) throws IOException {
        try (InputStream script =
                SqlScriptTests.class.getClassLoader().getResourceAsStream(ChangelogScript.location(kind))) {
            return script == null ? "" : new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Path keep(DatabaseKind kind, String generated) throws IOException {
        Path file = Path.of(System.getProperty("basedir", ""), "target", "generated", ChangelogScript.location(kind));
        Files.createDirectories(file.getParent());
        return Files.writeString(file, generated);
    }
}
