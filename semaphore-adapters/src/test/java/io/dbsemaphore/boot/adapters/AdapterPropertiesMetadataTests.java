package io.dbsemaphore.boot.adapters;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.mutex.MutexRequests;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.io.UrlResource;

/** What editors are told of the properties of this module. */
class AdapterPropertiesMetadataTests {

    @Test
    @SuppressWarnings("unchecked")
    void areAllDescribedForEditors() throws IOException {
        URL classes = MutexRequests.class.getProtectionDomain().getCodeSource().getLocation();
        String metadata = new UrlResource(classes)
                .createRelative("META-INF/spring-configuration-metadata.json")
                .getContentAsString(StandardCharsets.UTF_8);
        List<Object> properties = (List<Object>)
                JsonParserFactory.getJsonParser().parseMap(metadata).get("properties");

        assertThat(properties)
                .map(property -> (Map<String, Object>) property)
                .allSatisfy(property ->
                        assertThat((String) property.get("description")).isNotBlank())
                .extracting(property -> property.get("name"))
                .containsExactlyInAnyOrder(
                        "semaphore.adapters.shedlock.enabled",
                        "semaphore.adapters.shedlock.prefix",
                        "semaphore.adapters.spring-integration.cache-capacity",
                        "semaphore.adapters.spring-integration.enabled",
                        "semaphore.adapters.spring-integration.keep-alive",
                        "semaphore.adapters.spring-integration.prefix",
                        "semaphore.adapters.spring-integration.ttl");
    }
}
