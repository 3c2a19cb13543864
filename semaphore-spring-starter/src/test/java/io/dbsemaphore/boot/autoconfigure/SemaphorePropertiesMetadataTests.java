package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.io.UrlResource;

/** What editors are told of the properties. */
class SemaphorePropertiesMetadataTests extends SemaphorePropertiesFixture {

    private static final String ALL = """
            management.endpoint.semaphores.access management.endpoint.semaphores.cache.time-to-live
            management.endpoint.semaphores.anonymous-write-enabled management.endpoint.semaphores.force-release-enabled
            management.endpoint.semaphores.page-enabled management.endpoint.semaphores.set-capacity-enabled
            semaphore.aop.allow-unknown-names semaphore.aop.order
            semaphore.capacity-at-start
            semaphore.datasource semaphore.datasource.driver-class-name semaphore.datasource.hikari
            semaphore.datasource.password semaphore.datasource.url semaphore.datasource.username
            semaphore.defaults.fair semaphore.defaults.max-hold semaphore.defaults.ttl semaphore.defaults.wait-time
            semaphore.enabled semaphore.host-transaction semaphore.instance-timeout
            semaphore.jdbc.decision-timeout semaphore.jdbc.initialize-schema semaphore.jdbc.lock-wait-timeout
            semaphore.jdbc.max-attempts semaphore.jdbc.max-batch-size semaphore.jdbc.max-connections
            semaphore.jdbc.notifications semaphore.jdbc.one-trip-from semaphore.jdbc.pipelining semaphore.jdbc.schema-wait
            semaphore.jdbc.session-idle-limit semaphore.jdbc.table-prefix
            semaphore.keep-alive-interval semaphore.leak-detection-threshold semaphore.liquibase.enabled
            semaphore.maintenance.batch-size semaphore.maintenance.enabled
            semaphore.maintenance.history-cleanup-interval semaphore.maintenance.history-retention
            semaphore.maintenance.orphan-release-interval semaphore.maintenance.owner-grace
            semaphore.maintenance.pattern-idle-after semaphore.maintenance.request-cleanup-interval
            semaphore.maintenance.request-retention semaphore.maintenance.stale-after
            semaphore.max-head-start semaphore.max-names-per-request semaphore.max-pattern-semaphores semaphore.max-ttl
            semaphore.metrics.enabled semaphore.metrics.refresh-interval
            semaphore.owner semaphore.patterns semaphore.semaphores semaphore.shutdown-timeout
            semaphore.web.too-many-requests""";

    @Test
    void describeTheDefaultsOfTheEngineForEditors() throws IOException {
        Map<String, Object> described = described("defaultValue");

        assertThat(settings().map(Setting::property)).isSubsetOf(described.keySet());
        described.values().removeIf(Objects::isNull);
        with(described).run(context -> {
            SemaphoreSettings documented = context.getBean(SemaphoreSettings.class);
            assertThat(settings())
                    .allSatisfy(setting -> assertThat(documented.get(setting))
                            .as(setting.property())
                            .isEqualTo(onlyOwner().get(setting)));
        });
        assertThat(settings().map(Setting::property).filter(property -> !described.containsKey(property)))
                .containsExactlyInAnyOrder("semaphore.owner", "semaphore.jdbc.decision-timeout");
    }

    @Test
    void areAllDescribedForEditors() throws IOException {
        Map<String, Object> described = described("description");
        described.keySet().removeAll(RenamedProperties.RENAMED.keySet());
        assertThat(described)
                .containsOnlyKeys(ALL.split("\\s+"))
                .allSatisfy(
                        (name, description) -> assertThat((String) description).isNotBlank());
    }

    @Test
    void tellEditorsTheNamesThatReplaceFormerOnes() throws IOException {
        Map<String, Object> deprecated = described("deprecation");
        deprecated.values().removeIf(Objects::isNull);
        Map<String, Object> renamed = new TreeMap<>();
        RenamedProperties.RENAMED.forEach(
                (former, name) -> renamed.put(former, Map.of("level", "error", "replacement", name)));

        assertThat(deprecated).isEqualTo(renamed);
        assertThat(ALL.split("\\s+"))
                .containsAll(RenamedProperties.RENAMED.values())
                .doesNotContainAnyElementsOf(RenamedProperties.RENAMED.keySet());
    }

    /** What the metadata say of each property of the library under this key, null where nothing. */
    @SuppressWarnings("unchecked")
    private static Map<String, Object> described(String key) throws IOException {
        URL classes =
                SemaphoreProperties.class.getProtectionDomain().getCodeSource().getLocation();
        String metadata = new UrlResource(classes)
                .createRelative("META-INF/spring-configuration-metadata.json")
                .getContentAsString(StandardCharsets.UTF_8);
        List<Object> properties = (List<Object>)
                JsonParserFactory.getJsonParser().parseMap(metadata).get("properties");
        Map<String, Object> described = new TreeMap<>();
        properties.stream()
                .map(property -> (Map<String, Object>) property)
                .forEach(property -> described.put((String) property.get("name"), property.get(key)));
        return described;
    }
}
