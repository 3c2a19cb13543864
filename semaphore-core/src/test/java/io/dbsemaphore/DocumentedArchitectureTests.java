package io.dbsemaphore;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What docs/architecture.md names is there. */
class DocumentedArchitectureTests {

    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.dbsemaphore");
    /** Of the starter, and of tests. */
    private static final Set<String> ELSEWHERE = Set.of(
            "SemaphoreProperties", "ArchitectureTests", "DocumentedArchitectureTests", "PathLengthIntegrationTests");

    private static String page;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(Path.of("../docs/architecture.md"));
    }

    @Test
    void namesEveryPackage() {
        Set<String> named = new TreeSet<>();
        String tree = page.substring(page.indexOf("```\n") + 4, page.indexOf("```\n\n`semaphore-spring-starter`"));
        tree.lines().map(line -> line.split("\\s", 2)[0]).forEach(named::add);

        assertThat(named)
                .isEqualTo(LIBRARY.stream()
                        .map(type -> type.getPackageName().replaceFirst("^io\\.dbsemaphore\\.?", ""))
                        .map(name -> name.isEmpty() ? "(root)" : name)
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void namesMethodsThatAreThere() {
        List<MatchResult> methods = matches("`([A-Z]\\w+)\\.(\\w+)`");

        assertThat(methods)
                .hasSizeGreaterThan(25)
                .allSatisfy(method -> assertThat(classNamed(method.group(1)))
                        .as(method.group())
                        .anySatisfy(type -> assertThat(type.getAllMethods())
                                .anyMatch(each -> each.getName().equals(method.group(2)))));
    }

    @Test
    void namesClassesThatAreThere() {
        List<MatchResult> classes = matches("`([A-Z]\\w+)`");

        assertThat(classes).hasSizeGreaterThan(25).allSatisfy(type -> {
            if (!ELSEWHERE.contains(type.group(1))) {
                assertThat(classNamed(type.group(1))).as(type.group()).isNotEmpty();
            }
        });
    }

    private static List<MatchResult> matches(String pattern) {
        return Pattern.compile(pattern).matcher(page).results().toList();
    }

    private static List<JavaClass> classNamed(String name) {
        return Stream.of(name)
                .flatMap(simple ->
                        LIBRARY.stream().filter(type -> type.getSimpleName().equals(simple)))
                .toList();
    }
}
