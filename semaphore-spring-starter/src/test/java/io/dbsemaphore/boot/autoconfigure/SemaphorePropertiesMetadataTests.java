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
            semaphore.aop.allow-unknown-names semaphore.aop.order
            semaphore.endpoint.anonymous-write-enabled
            semaphore.endpoint.force-release-enabled semaphore.endpoint.page-enabled
            semaphore.endpoint.set-capacity-enabled
            semaphore.maintenance.batch-size semaphore.maintenance.enabled
            semaphore.maintenance.history-cleanup-interval semaphore.maintenance.history-retention
            semaphore.maintenance.orphan-release-interval semaphore.maintenance.owner-grace
            semaphore.maintenance.pattern-idle-after semaphore.maintenance.request-cleanup-interval
            semaphore.maintenance.request-retention semaphore.maintenance.stale-after
            semaphore.metrics.enabled semaphore.metrics.refresh-interval
            semaphore.capacity-at-start semaphore.datasource semaphore.datasource.driver-class-name
            semaphore.datasource.hikari semaphore.datasource.password semaphore.datasource.url
            semaphore.datasource.username semaphore.decision-timeout semaphore.default-ttl
            semaphore.enabled semaphore.fair semaphore.host-transaction semaphore.initialize-schema
            semaphore.instance-timeout
            semaphore.leak-detection-threshold
            semaphore.keep-alive-interval semaphore.liquibase.enabled semaphore.lock-wait-timeout
            semaphore.max-attempts semaphore.max-batch-size semaphore.max-connections semaphore.max-hold
            semaphore.max-names-per-request semaphore.max-pattern-semaphores semaphore.max-ttl semaphore.notifications
            semaphore.owner
            semaphore.patterns semaphore.pipelining semaphore.schema-wait semaphore.semaphores
            semaphore.session-idle-limit semaphore.shutdown-timeout semaphore.table-prefix
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
                .containsExactlyInAnyOrder("semaphore.owner", "semaphore.decision-timeout");
    }

    @Test
    void areAllDescribedForEditors() throws IOException {
        assertThat(described("description"))
                .containsOnlyKeys(ALL.split("\\s+"))
                .allSatisfy(
                        (name, description) -> assertThat((String) description).isNotBlank());
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
