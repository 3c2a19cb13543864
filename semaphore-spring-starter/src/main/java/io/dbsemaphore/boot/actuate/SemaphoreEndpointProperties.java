package io.dbsemaphore.boot.actuate;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
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
        @DefaultValue("false") boolean forceReleaseEnabled) {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreEndpointProperties.class);

    /** Warns when something is switched on here that the access to the endpoint as a whole does not allow. */
    void warnOfNoEffect(Access access) {
        if (access != Access.UNRESTRICTED && (setCapacityEnabled || forceReleaseEnabled)) {
            log.warn(
                    "semaphore.endpoint.set-capacity-enabled and semaphore.endpoint.force-release-enabled have no effect: the"
                            + " access to the endpoint is {} (management.endpoint.semaphores.access or"
                            + " management.endpoints.access). Set it to unrestricted, or remove them",
                    access);
        }
    }
}
