package io.dbsemaphore.rewrite;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application is migrated by the command in docs/migrate.md, and its own test passes before and afterwards. Runs Maven, with a local
 * repository that has the artifacts of this build beside all others.
 */
@Tag("slow")
class MigratedApplicationIntegrationTests {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final String VERSION = property("project.version");

    @TempDir
    Path directory;

    private Path project;
    private Path repository;

    @BeforeEach
    void copy() throws IOException {
        project = directory.resolve("project");
        repository = directory.resolve("repository");
        Path source = Path.of("src/test/projects/shedlock");
        for (Path file : files(source)) {
            Path copy = project.resolve(source.relativize(file).toString());
            Files.createDirectories(copy.getParent());
            Files.writeString(
                    copy,
                    Files.readString(file)
                            .replace("@spring-boot.version@", property("spring-boot.version"))
                            .replace("@shedlock.version@", property("shedlock.version")));
        }
        link(Path.of(property("local.repository")), repository, "io");
        link(Path.of(property("local.repository"), "io"), repository.resolve("io"), "dbsemaphore");
        for (String module : List.of("semaphore-core", "semaphore-spring-starter", "semaphore-rewrite")) {
            Path installed =
                    repository.resolve("io/dbsemaphore").resolve(module).resolve(VERSION);
            Path target = ROOT.resolve(module).resolve("target");
            String name = module + "-" + VERSION;
            Files.createDirectories(installed);
            Files.copy(target.resolve("flattened-pom.xml"), installed.resolve(name + ".pom"));
            Files.copy(target.resolve(name + ".jar"), installed.resolve(name + ".jar"));
        }
    }

    @Test
    void needsNoEditByHand() throws Exception {
        maven("test");

        maven(command().toArray(String[]::new));

        assertThat(files(project.resolve("src")))
                .allSatisfy(file -> assertThat(file).content().doesNotContain("net.javacrumbs.shedlock", "TODO"));
        assertThat(project.resolve("src/main/java/com/example/tasks/Tasks.java"))
                .content()
                .contains("@WithPermits(", "Permits.assertHeld(\"scheduledTaskName\")");
        assertThat(project.resolve("src/main/resources/application.yaml")).hasContent("""
            spring:
              application:
                name: tasks
            semaphore:
              semaphores:
                scheduledTaskName:
                  capacity: 1
            """);
        assertThat(project.resolve("pom.xml"))
                .content()
                .contains("<artifactId>semaphore-spring-starter</artifactId>", "<version>" + VERSION + "</version>")
                .doesNotContain("shedlock");
        maven("test");
    }

    /** The arguments of Maven in docs/migrate.md. */
    private static List<String> command() throws IOException {
        String documents = Files.readString(ROOT.resolve("docs/migrate.md"));
        String command = documents
                .lines()
                .map(String::strip)
                .dropWhile(line -> !line.startsWith("mvn org.openrewrite.maven:rewrite-maven-plugin"))
                .takeWhile(line -> !line.startsWith("```"))
                .map(line -> line.replaceFirst(" *\\\\$", ""))
                .reduce("", (first, next) -> first + " " + next);
        return Stream.of(command.strip().split(" +")).skip(1).toList();
    }

    private void maven(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(property("maven.home") + "/bin/mvn", "-B", "-ntp", "-Dmaven.repo.local=" + repository));
        command.addAll(Arrays.asList(arguments));
        Path log = directory.resolve("maven.log");
        Process maven = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!maven.waitFor(5, TimeUnit.MINUTES)) {
            maven.destroyForcibly();
        }
        assertThat(maven.waitFor())
                .as("%s%n%s", command, Files.readString(log, StandardCharsets.UTF_8))
                .isZero();
    }

    /** Makes a directory with links to what another one has, apart from one entry. */
    private static void link(Path from, Path to, String apart) throws IOException {
        Files.createDirectories(to);
        if (Files.exists(from)) {
            try (Stream<Path> entries = Files.list(from)) {
                for (Path entry : entries.filter(each -> !each.endsWith(apart)).toList()) {
                    Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
                }
            }
        }
    }

    private static List<Path> files(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String property(String name) {
        return requireNonNull(System.getProperty(name), name);
    }
}
