package io.dbsemaphore.boot.actuate;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What may be changed by the Actuator's endpoint.
 *
 * @param setCapacityEnabled Whether capacities may be changed by it.
 * @param forceReleaseEnabled Whether permits may be taken away from their holders by it.
 */
@ConfigurationProperties("semaphore.endpoint")
record SemaphoreEndpointProperties(
        @DefaultValue("false") boolean setCapacityEnabled,
        @DefaultValue("false") boolean forceReleaseEnabled) {}
