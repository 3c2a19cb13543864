package io.dbsemaphore.boot.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A release is compared with an earlier one in all packages of the public API, and in no other ones. */
class ComparedPackagesTests {

    private static final Path MODULE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    private static final Path ROOT = MODULE.getParent();

    private static final Pattern COMPARED = Pattern.compile("<include>(io\\.dbsemaphore.*)</include>");
    private static final Pattern TYPE = Pattern.compile("^\\w.*? (?:class|@?interface|enum|record) ([a-z.]+)\\.[A-Z]");

    @Test
    void areThoseOfThePublicApi() throws IOException {
        List<String> compared = COMPARED.matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(include -> include.group(1))
                .toList();

        assertThat(compared).hasSizeGreaterThan(1).hasSameElementsAs(publicPackages());
    }

    private static List<String> publicPackages() throws IOException {
        try (Stream<String> core = publicApi("semaphore-core");
                Stream<String> starter = publicApi("semaphore-spring-starter");
                Stream<String> adapters = publicApi("semaphore-adapters");
                Stream<String> test = publicApi("semaphore-test")) {
            return Stream.of(core, starter, adapters, test)
                    .flatMap(lines -> lines)
                    .flatMap(line -> TYPE.matcher(line).results())
                    .map(type -> type.group(1))
                    .distinct()
                    .toList();
        }
    }

    private static Stream<String> publicApi(String module) throws IOException {
        return Files.lines(ROOT.resolve(module).resolve("src/test/api/public-api.txt"));
    }
}
