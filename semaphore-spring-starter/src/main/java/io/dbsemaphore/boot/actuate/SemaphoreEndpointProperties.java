package io.dbsemaphore.boot.actuate;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The page and the write operations of the Actuator endpoint.
 *
 * @param pageEnabled Whether browsers get the operator's page at the URL of the endpoint.
 * @param setCapacityEnabled Whether the endpoint can change capacities.
 * @param forceReleaseEnabled Whether the endpoint can release permits by force.
 * @param anonymousWriteEnabled Whether write operations also accept HTTP requests without an authenticated user.
 */
@ConfigurationProperties("management.endpoint.semaphores")
record SemaphoreEndpointProperties(
        @DefaultValue("true") boolean pageEnabled,
        @DefaultValue("false") boolean setCapacityEnabled,
        @DefaultValue("false") boolean forceReleaseEnabled,
        @DefaultValue("false") boolean anonymousWriteEnabled) {}
