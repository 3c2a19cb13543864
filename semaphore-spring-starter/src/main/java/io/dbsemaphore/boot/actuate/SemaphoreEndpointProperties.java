package io.dbsemaphore.boot.actuate;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The page and the write operations of the Actuator endpoint.
 *
 * @param pageEnabled Whether browsers get the operator's page at the URL of the endpoint.
 * @param setCapacityEnabled Whether the endpoint can change capacities.
 * @param forceReleaseEnabled Whether the endpoint can release permits by force.
 * @param anonymousWriteEnabled Whether it does so over HTTP for requests without an authenticated user, too.
 */
@ConfigurationProperties("semaphore.endpoint")
record SemaphoreEndpointProperties(
        @DefaultValue("true") boolean pageEnabled,
        @DefaultValue("false") boolean setCapacityEnabled,
        @DefaultValue("false") boolean forceReleaseEnabled,
        @DefaultValue("false") boolean anonymousWriteEnabled) {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreEndpointProperties.class);

    /** Warns if an operation is enabled that the access to the endpoint as a whole does not permit. */
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
