package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the semaphores that the properties declare. By default, semaphores that already exist keep their capacity.
 */
final class DeclaredSemaphores {

    /** The operator in the audit if the configuration changes a capacity. */
    static final String CONFIGURATION = "configuration";

    private static final Logger log = LoggerFactory.getLogger(DeclaredSemaphores.class);

    private final SemaphoreProperties properties;
    private final String owner;
    private boolean created;

    /** @param owner the name of this application instance, for the audit */
    DeclaredSemaphores(SemaphoreProperties properties, String owner) {
        this.properties = properties;
        this.owner = owner;
    }

    /**
     * Creates the semaphores, once: as soon as the tables exist, or at start if the application defines its own engine.
     */
    synchronized void createBy(SemaphoreAdmin admin) {
        if (!created) {
            properties.semaphores().forEach((name, declared) -> declare(admin, name, declared.capacity()));
            created = true;
        }
    }

    private void declare(SemaphoreAdmin admin, String name, int capacity) {
        if (admin.create(name, capacity)) {
            log.info("Created semaphore '{}' with capacity {}", name, capacity);
            return;
        }
        admin.find(name)
                .map(SemaphoreStatus::capacity)
                .filter(existing -> existing != capacity)
                .ifPresent(existing -> settle(admin, name, existing, capacity));
    }

    private void settle(SemaphoreAdmin admin, String name, int existing, int configured) {
        if (properties.capacityAtStart() == SemaphoreProperties.CapacityAtStart.APPLY) {
            admin.setCapacity(
                    name,
                    configured,
                    CONFIGURATION,
                    "%s.capacity at the start of %s".formatted(SemaphoreProperties.property(name), owner));
            log.info("Semaphore '{}' has capacity {} instead of {}, as configured", name, configured, existing);
        } else {
            log.warn(
                    "Semaphore '{}' keeps its capacity {}, which differs from the configured {}: it was changed at run time,"
                            + " or the configuration was changed later. Change it with SemaphoreAdmin.setCapacity or the"
                            + " endpoint, or set semaphore.capacity-at-start=apply",
                    name,
                    existing,
                    configured);
        }
    }
}
