package io.dbsemaphore.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityChange.ForcedRelease;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.PermitHolder.HolderInstance;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.ShareStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.Access;

/** docs/operators-page.md lists each field of each view with its type, in its order, and nothing else. */
class DocumentedJsonTests {

    private static final Path DOCUMENT = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .getParent()
            .resolve("docs/operators-page.md");

    private static final Instant NOW = Instant.parse("2026-01-31T12:00:00Z");
    private static final long ID = Long.MAX_VALUE;

    @ParameterizedTest
    @ValueSource(strings = {"", "/backup", "/backup/requests", "/backup/history", "/instances"})
    void listsTheFields(String path) throws IOException {
        String section = Files.readString(DOCUMENT)
                .split(Pattern.quote("\n### `/actuator/semaphores" + path.replace("backup", "{name}") + "`\n"), -1)[1]
                .split("\n### ", -1)[0];

        List<String> documented = Pattern.compile(
                        "^([\\w.\\[\\]]+) +(instant|string|number|boolean)\\b", Pattern.MULTILINE)
                .matcher(section)
                .results()
                .map(row -> row.group(1) + " " + row.group(2))
                .toList();

        SemaphoresEndpoint endpoint = new SemaphoresEndpoint(
                everything(), new SemaphoreEndpointProperties(true, false, false, false), Access.UNRESTRICTED);
        Object shown = (path.isEmpty()
                        ? endpoint.semaphores(null, null, null, null)
                        : endpoint.details(path.substring(1).split("/", -1), null, null, null, null, null, null))
                .getBody();
        assertThat(documented)
                .isEqualTo(fields("", (Map<?, ?>) shown).distinct().toList());
    }

    private static Stream<String> fields(String prefix, Map<?, ?> object) {
        return object.entrySet().stream().flatMap(field -> field(prefix + field.getKey(), field.getValue()));
    }

    private static Stream<String> field(String name, Object value) {
        if (value instanceof List<?> list) {
            return list.stream().flatMap(each -> fields(name + "[].", (Map<?, ?>) each));
        }
        return value instanceof Map<?, ?> object
                ? fields(name + ".", object)
                : Stream.of(name + " "
                        + (value instanceof Number
                                ? "number"
                                : value.getClass().getSimpleName().toLowerCase(Locale.ROOT)));
    }

    /** Answers each report with records that have all there can be, the holder of a permit once with and once without an instance. */
    private static SemaphoreAdmin everything() {
        SemaphoreStatus status = new SemaphoreStatus("backup", 3, 2, 1, 2, 1);
        Map<String, Object> answers = Map.ofEntries(
                Map.entry("now", NOW),
                Map.entry("list", List.of(status)),
                Map.entry("since", List.of(new Since("backup", Optional.of(NOW), Optional.of(NOW), Optional.of(3)))),
                Map.entry(
                        "waitingCallers",
                        List.of(new WaitingCaller(
                                ID,
                                "a",
                                0,
                                false,
                                NOW,
                                1,
                                false,
                                false,
                                Optional.of(Duration.ofMinutes(2)),
                                Optional.of("acme/ada")))),
                Map.entry("shares", List.of(new ShareStatus("acme/ada", 1, 2, false, 5, 1))),
                Map.entry("granted", 1),
                Map.entry("find", Optional.of(status)),
                Map.entry(
                        "holders",
                        List.of(
                                holder(Optional.of(new HolderInstance(
                                        ID, Optional.of("a"), Optional.of(NOW), true, Optional.of(NOW)))),
                                holder(Optional.empty()))),
                Map.entry("waiting", List.of(new WaitingInstance(ID, "a", NOW, 1))),
                Map.entry("instances", List.of(new InstanceStatus(ID, "a", NOW, NOW, true, Optional.of(NOW), 1))),
                Map.entry(
                        "requests",
                        List.of(
                                new PermitUse(
                                        "id", "a", Optional.of("b"), 1, 1, NOW, Optional.of(NOW), Optional.of(NOW)),
                                new PermitUse(
                                        "id", "a", Optional.of("b"), 3, 1, NOW, Optional.empty(), Optional.of(NOW)))),
                Map.entry(
                        "capacityHistory",
                        List.of(
                                new CapacityChange("backup", 1, 2, "ada", "noon", NOW, Optional.empty()),
                                new CapacityChange(
                                        "backup",
                                        2,
                                        2,
                                        "ada",
                                        "stuck",
                                        NOW,
                                        Optional.of(new ForcedRelease("id", "a", 1))))),
                Map.entry("reclaims", List.of(new SemaphoreAdmin.Reclaim("backup", "id", "a", 1, "gone", NOW))));
        return (SemaphoreAdmin) Proxy.newProxyInstance(
                SemaphoreAdmin.class.getClassLoader(),
                new Class<?>[] {SemaphoreAdmin.class},
                (proxy, method, arguments) -> answers.get(method.getName()));
    }

    private static PermitHolder holder(Optional<HolderInstance> instance) {
        return new PermitHolder("id", "a", Optional.of("b"), 1, 1, NOW, Optional.of(NOW), instance);
    }
}
