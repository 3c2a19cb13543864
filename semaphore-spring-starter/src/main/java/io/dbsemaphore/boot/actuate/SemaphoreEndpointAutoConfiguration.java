package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the {@link SemaphoresEndpoint}, if the application exposes it. */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean(SemaphoreAdmin.class)
@ConditionalOnAvailableEndpoint(SemaphoresEndpoint.class)
@EnableConfigurationProperties(SemaphoreEndpointProperties.class)
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
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
    SemaphoresEndpointWebExtension semaphoresEndpointWebExtension(SemaphoresEndpoint endpoint) {
        return new SemaphoresEndpointWebExtension(endpoint);
    }
}
