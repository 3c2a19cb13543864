package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
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
import org.springframework.web.server.ResponseStatusException;

/** Auto-configuration for the {@link SemaphoresEndpoint}, if the application exposes it. */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class, ResponseStatusException.class})
@ConditionalOnBean({SemaphoreEngine.class, SemaphoreAdmin.class})
@ConditionalOnAvailableEndpoint(endpoint = SemaphoresEndpoint.class, exposure = EndpointExposure.WEB)
@EnableConfigurationProperties(SemaphoreEndpointProperties.class)
@ImportRuntimeHints(SemaphoresPageEndpoint.Hints.class)
@RegisterReflectionForBinding({
    SemaphoreStatus.class,
    SemaphoreStatus.WaitingInstance.class,
    SemaphoreStatus.WaitingCaller.class,
    SemaphoreStatus.ShareStatus.class,
    PermitHolder.class,
    CapacityChange.class,
    SemaphoreAdmin.Reclaim.class,
    SemaphoreAdmin.PermitUse.class,
    InstanceStatus.class,
    SemaphoresEndpoint.Problem.class
})
public final class SemaphoreEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(SemaphoresEndpoint.class)
    @ConditionalOnBooleanProperty(name = "management.endpoint.semaphores.page-enabled", matchIfMissing = true)
    SemaphoresPageEndpoint semaphoresPageEndpoint(
            SemaphoreAdmin admin,
            SemaphoreEndpointProperties properties,
            ObjectProvider<EndpointAccessResolver> access) {
        return new SemaphoresPageEndpoint(admin, properties, allowed(access));
    }

    @Bean
    @ConditionalOnMissingBean
    SemaphoresEndpoint semaphoresEndpoint(
            SemaphoreAdmin admin,
            SemaphoreEndpointProperties properties,
            ObjectProvider<EndpointAccessResolver> access) {
        return new SemaphoresEndpoint(admin, properties, allowed(access));
    }

    private static Access allowed(ObjectProvider<EndpointAccessResolver> access) {
        return access.getIfAvailable(() -> (id, fallback) -> fallback)
                .accessFor(EndpointId.of("semaphores"), Access.UNRESTRICTED);
    }
}
