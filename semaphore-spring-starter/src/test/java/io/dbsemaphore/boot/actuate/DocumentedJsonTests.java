package io.dbsemaphore.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The tables of docs/operators-page.md list each field of each view with its type, in its order, and nothing else. */
class DocumentedJsonTests {

    private static final Path DOCUMENT = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .getParent()
            .resolve("docs/operators-page.md");

    static Stream<Arguments> views() {
        return Stream.of(
                Arguments.of("overview", SemaphoreViews.OverviewDescriptor.class),
                Arguments.of("semaphore", SemaphoreViews.SemaphorePageDescriptor.class),
                Arguments.of("requests", SemaphoreViews.RequestsDescriptor.class),
                Arguments.of("instances", SemaphoreViews.InstancesDescriptor.class));
    }

    @ParameterizedTest
    @MethodSource("views")
    void listsTheFields(String view, Class<?> descriptor) throws IOException {
        String section = Files.readString(DOCUMENT)
                .split("\n### `" + view + "`\n", -1)[1]
                .split("\n### ", -1)[0];

        List<String> documented = Pattern.compile("^\\| `([^`]+)` \\| (\\w+) \\|", Pattern.MULTILINE)
                .matcher(section)
                .results()
                .map(row -> row.group(1) + " " + row.group(2))
                .toList();

        assertThat(documented).isEqualTo(fields("", descriptor).toList());
    }

    private static Stream<String> fields(String prefix, Class<?> type) {
        return Arrays.stream(type.getRecordComponents()).flatMap(component -> field(prefix, component));
    }

    private static Stream<String> field(String prefix, RecordComponent component) {
        String name = prefix + component.getName();
        if (component.getGenericType() instanceof ParameterizedType list) {
            return fields(name + "[].", (Class<?>) list.getActualTypeArguments()[0]);
        }
        Class<?> type = component.getType();
        return type.isRecord() ? fields(name + ".", type) : Stream.of(name + " " + jsonType(type));
    }

    private static String jsonType(Class<?> type) {
        if (type == Instant.class) {
            return "instant";
        }
        if (type == String.class || type == boolean.class) {
            return type.getSimpleName().toLowerCase(Locale.ROOT);
        }
        return "number";
    }
}
