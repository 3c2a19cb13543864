package io.dbsemaphore.boot.publishing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A directory to which a release was deployed: the POMs, the files that Maven Central requires beside them with their
 * checksums, and no other files. {@code src/release/check} runs {@link #main}.
 */
final class PublishedDirectory {

    private static final List<String> POM_ONLY = List.of(".pom");
    private static final List<String> WITH_JAR =
            List.of(".pom", ".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json");
    private static final List<String> CHECKSUMS = List.of(".md5", ".sha1");

    private final Path group;
    private final String version;
    private final Set<String> expected;

    private PublishedDirectory(Path group, String version, Collection<String> expected) {
        this.group = group;
        this.version = version;
        this.expected = new TreeSet<>(expected);
    }

    /**
     * Prints what is wrong with the directory of a group, and fails if anything is.
     *
     * @param arguments the directory, the version, and the artifacts
     */
    public static void main(String... arguments) throws IOException {
        List<String> all = List.of(arguments);
        PublishedDirectory directory =
                new PublishedDirectory(Path.of(all.get(0)), all.get(1), all.subList(2, all.size()));
        List<String> problems = directory.problems();
        problems.forEach(System.out::println);
        System.exit(problems.isEmpty() ? 0 : 1);
    }

    private List<String> problems() throws IOException {
        Set<String> artifacts = new TreeSet<>();
        try (Stream<Path> directories = Files.list(group)) {
            directories.map(directory -> directory.getFileName().toString()).forEach(artifacts::add);
        }
        List<String> problems = new ArrayList<>();
        if (!artifacts.equals(expected)) {
            problems.add("Published: " + artifacts + " instead of " + expected);
        }
        for (String artifact : artifacts) {
            problems(artifact).forEach(problem -> problems.add(artifact + ": " + problem));
        }
        return problems;
    }

    private List<String> problems(String artifact) throws IOException {
        Path directory = group.resolve(artifact).resolve(version);
        String name = artifact + "-" + version;
        PublishedPom pom = PublishedPom.read(directory.resolve(name + ".pom"));
        List<String> problems = new ArrayList<>(pom.problems());
        if (pom.text("version").endsWith("-SNAPSHOT")) {
            problems.add("is a snapshot");
        }
        Set<String> required = (pom.text("packaging").equals("pom") ? POM_ONLY : WITH_JAR)
                .stream()
                        .flatMap(suffix -> Stream.concat(Stream.of(""), CHECKSUMS.stream())
                                .map(checksum -> name + suffix + checksum))
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.list(directory)) {
            files.map(file -> file.getFileName().toString())
                    .filter(file -> !file.contains(".asc"))
                    .forEach(found::add);
        }
        if (!found.equals(required)) {
            problems.add("has the files " + found + " instead of " + required);
        }
        return problems;
    }
}
