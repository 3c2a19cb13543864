package io.dbsemaphore.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of the annotation and the lists of the contract in docs/reference.md have all that there is, and nothing else. */
class DocumentedApiTests {

    private static final String REFERENCE = "docs/reference.md";
    private static final Pattern ENTRY = Pattern.compile("^\\* `([\\w.]+)(?:\\([^`]*\\))?`:\\s", Pattern.MULTILINE);

    @Test
    void listsTheAttributesOfTheAnnotationWithTheirTypesAndDefaults() {
        List<List<String>> rows = Documents.rows(Documents.section(REFERENCE, "`@WithPermits`"));

        assertThat(rows.stream().map(row -> Documents.code(row.get(0))))
                .containsExactlyInAnyOrderElementsOf(methods(WithPermits.class, method -> true));
        for (List<String> row : rows) {
            Method attribute = Arrays.stream(WithPermits.class.getDeclaredMethods())
                    .filter(method -> method.getName().equals(Documents.code(row.get(0))))
                    .findFirst()
                    .orElseThrow();
            String type = attribute.getReturnType().getSimpleName();
            assertThat(Documents.code(row.get(1))).as(attribute.getName()).isIn(type, "duration");
            assertThat(row.get(2)).as(attribute.getName()).startsWith(defaultValue(attribute));
        }
    }

    @Test
    void onePageForAssistantsNamesTheAttributesOfTheAnnotation() {
        String page = Documents.read("docs/assistants.md");

        assertThat(methods(WithPermits.class, method -> true))
                .allSatisfy(attribute -> assertThat(page).contains("`" + attribute + "`"));
    }

    @Test
    void listsTheMethodsOfARequest() {
        assertThat(entries("`AcquireRequest`"))
                .containsExactlyInAnyOrderElementsOf(
                        methods(AcquireRequest.class, method -> method.getReturnType() == AcquireRequest.class));
    }

    @Test
    void listsTheMethodsOfTheOperations() {
        assertThat(entries("`SemaphoreTemplate` and `SemaphoreOperations`"))
                .containsExactlyInAnyOrderElementsOf(methods(SemaphoreOperations.class, method -> true));
    }

    @Test
    void listsTheMethodsOfAGrant() {
        assertThat(entries("`PermitGrant`"))
                .containsExactlyInAnyOrderElementsOf(methods(PermitGrant.class, method -> true));
    }

    @Test
    void listsTheMethodsOfPermits() {
        Set<String> methods = methods(Permits.class, method -> true).stream()
                .map("Permits."::concat)
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(entries("`Permits`")).containsExactlyInAnyOrderElementsOf(methods);
    }

    @Test
    void listsTheExceptions() throws IOException {
        Set<String> exceptions = new TreeSet<>();
        for (String contract : List.of("", "/admin")) {
            Path sources = Documents.ROOT.resolve("semaphore-core/src/main/java/io/dbsemaphore" + contract);
            try (Stream<Path> files = Files.list(sources)) {
                files.map(file -> file.getFileName().toString())
                        .filter(file -> file.endsWith("Exception.java") && !file.equals("SemaphoreException.java"))
                        .forEach(file -> exceptions.add(file.replace(".java", "")));
            }
        }

        assertThat(entries("Exceptions")).containsExactlyInAnyOrderElementsOf(exceptions);
    }

    @Test
    void listsTheMethodsForOperators() {
        String section = Documents.section(REFERENCE, "Administration and extension points");

        assertThat(methods(SemaphoreAdmin.class, method -> true))
                .allSatisfy(method -> assertThat(section).contains("`" + method + "`"));
        assertThat(methods(SemaphoreMaintenance.class, method -> true))
                .allSatisfy(method -> assertThat(section).contains("`" + method + "`"));
    }

    /** What the entries of a list name, without parameters. */
    private static List<String> entries(String heading) {
        return ENTRY.matcher(Documents.section(REFERENCE, heading))
                .results()
                .map(entry -> entry.group(1))
                .toList();
    }

    private static Set<String> methods(Class<?> type, Predicate<Method> condition) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .filter(condition)
                .map(Method::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** How the table begins to say it. */
    private static String defaultValue(Method attribute) {
        Object value = attribute.getDefaultValue();
        if (value.getClass().isArray()) {
            return Array.getLength(value) == 0 ? "none" : "`" + Array.get(value, 0) + "`";
        }
        return value instanceof String text ? "`\"" + text + "\"`" : "`" + value + "`";
    }
}
