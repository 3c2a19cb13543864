package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;

/** Auto-configuration for the {@link SemaphoresEndpoint}, if the application exposes it. */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean({SemaphoreEngine.class, SemaphoreAdmin.class})
@ConditionalOnAvailableEndpoint(SemaphoresEndpoint.class)
@EnableConfigurationProperties(SemaphoreEndpointProperties.class)
@ImportRuntimeHints(PageDocument.Hints.class)
public final class SemaphoreEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    SemaphoresEndpoint semaphoresEndpoint(
            SemaphoreAdmin admin,
            SemaphoreEndpointProperties properties,
            ObjectProvider<EndpointAccessResolver> access) {
        access.ifAvailable(resolver ->
                properties.warnOfNoEffect(resolver.accessFor(EndpointId.of("semaphores"), Access.UNRESTRICTED)));
        return new SemaphoresEndpoint(admin, properties);
    }

    @Bean
    @ConditionalOnBean(SemaphoresEndpoint.class)
    @ConditionalOnMissingBean(SemaphoresEndpointWebExtension.class)
    @ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
    @ConditionalOnBooleanProperty(name = "semaphore.endpoint.page-enabled", matchIfMissing = true)
    SemaphoresPageWebExtension semaphoresPageWebExtension(
            SemaphoresEndpoint endpoint,
            SemaphoreAdmin admin,
            SemaphoreEndpointProperties properties,
            ObjectProvider<EndpointAccessResolver> access) {
        Access allowed = access.getIfAvailable(() -> (id, fallback) -> fallback)
                .accessFor(EndpointId.of("semaphores"), Access.UNRESTRICTED);
        return new SemaphoresPageWebExtension(
                endpoint,
                new SemaphoreViews(admin),
                properties,
                new PageDocument(
                        allowed == Access.UNRESTRICTED,
                        properties.setCapacityEnabled(),
                        properties.forceReleaseEnabled()));
    }

    @Bean
    @ConditionalOnBean(SemaphoresEndpoint.class)
    @ConditionalOnMissingBean // Spring Boot permits one extension: the one with the page, or this one
    @ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
    SemaphoresEndpointWebExtension semaphoresEndpointWebExtension(
            SemaphoresEndpoint endpoint, SemaphoreAdmin admin, SemaphoreEndpointProperties properties) {
        return new SemaphoresEndpointWebExtension(endpoint, new SemaphoreViews(admin), properties);
    }
}
