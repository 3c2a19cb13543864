package io.dbsemaphore.boot.publishing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The POMs that are published have what Maven Central requires, and can be used without the parent. */
class PublishedPomTests {

    private static final String GOOD = """
            <project>
              <modelVersion>4.0.0</modelVersion>
              <groupId>io.dbsemaphore</groupId>
              <artifactId>semaphore-core</artifactId>
              <version>1.2.3</version>
              <name>Name</name>
              <description>Description</description>
              <url>https://example.org/project</url>
              <licenses><license><name>Apache-2.0</name><url>https://example.org/licence</url></license></licenses>
              <developers><developer><name>Authors</name></developer></developers>
              <scm><connection>scm:git:https://example.org/project.git</connection><url>https://example.org/project</url></scm>
              <dependencies>
                <dependency>
                  <groupId>org.example</groupId>
                  <artifactId>other</artifactId>
                  <version>4.5</version>
                </dependency>
              </dependencies>
            </project>
            """;

    @TempDir
    private Path directory;

    /** Maven writes them before it compiles. Who runs the tests otherwise has none. */
    @ParameterizedTest
    @EnabledIfSystemProperty(named = "published.poms", matches = "true")
    @ValueSource(strings = {"semaphore-bom", "semaphore-core", "semaphore-spring-starter", "semaphore-adapters"})
    void areComplete(String module) throws IOException {
        Path pom = Path.of("").toAbsolutePath().resolveSibling(module).resolve("target/flattened-pom.xml");
        assumeThat(pom).as("The POM of a module that is built with this one").exists();

        assertThat(PublishedPom.read(pom).problems()).isEmpty();
        assertThat(PublishedPom.read(pom).text("artifactId")).isEqualTo(module);
    }

    @Test
    void aCompleteOneHasNoProblems() throws IOException {
        assertThat(pom(GOOD).problems()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    <name>Name</name> | '' | name is missing
                    <description>Description</description> | '' | description is missing
                    <name>Authors</name> | '' | developers/developer/name is missing
                    <name>Apache-2.0</name> | '' | licenses/license/name is missing
                    <connection>scm:git:https://example.org/project.git</connection> | '' | scm/connection is missing
                    https://example.org/project</url> | the project</url> | url is no address: the project
                    <modelVersion> | <parent/><modelVersion> | parent is not published
                    <modelVersion> | <repositories/><modelVersion> | 'repositories are the application''s choice'
                    <version>4.5</version> | '' | org.example:other has no version
                    <version>4.5</version> | <version>4.5-SNAPSHOT</version> | org.example:other is a snapshot: 4.5-SNAPSHOT
                    <version>4.5</version> | <version>${other.version}</version> | a property has not been replaced by its value
                    <version>4.5</version> | <version>4.5</version><scope>test</scope> | org.example:other is for tests
                    <groupId>org.example</groupId> | <groupId>io.dbsemaphore</groupId> | io.dbsemaphore:other has another version: 4.5
                    """)
    void anIncompleteOneIsFoundOut(String part, String instead, String problem) throws IOException {
        assertThat(GOOD).contains(part);
        assertThat(pom(GOOD.replace(part, instead)).problems()).contains(problem);
    }

    private PublishedPom pom(String text) throws IOException {
        return PublishedPom.read(Files.writeString(directory.resolve("pom.xml"), text));
    }
}
