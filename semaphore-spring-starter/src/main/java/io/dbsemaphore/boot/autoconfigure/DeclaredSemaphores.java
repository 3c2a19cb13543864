package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;

/** Creates the semaphores of the properties that are not there yet. Those that are there keep their capacity by default. */
final class DeclaredSemaphores implements InitializingBean {

    /** The operator in the audit where the configuration changes a capacity. */
    static final String CONFIGURATION = "configuration";

    private static final Logger log = LoggerFactory.getLogger(DeclaredSemaphores.class);

    private final SemaphoreAdmin admin;
    private final SemaphoreProperties properties;
    private final String owner;

    /**
     * Creates the declared semaphores.
     *
     * @param owner this instance, for the audit
     */
    DeclaredSemaphores(SemaphoreAdmin admin, SemaphoreProperties properties, String owner) {
        this.admin = admin;
        this.properties = properties;
        this.owner = owner;
    }

    @Override
    public void afterPropertiesSet() {
        properties.semaphores().forEach((name, declared) -> declare(name, declared.capacity()));
    }

    private void declare(String name, int capacity) {
        if (admin.create(name, capacity)) {
            log.info("Created semaphore '{}' with capacity {}", name, capacity);
            return;
        }
        admin.find(name)
                .map(SemaphoreStatus::capacity)
                .filter(existing -> existing != capacity)
                .ifPresent(existing -> settle(name, existing, capacity));
    }

    private void settle(String name, int existing, int configured) {
        if (properties.capacityAtStart() == CapacityAtStart.APPLY) {
            admin.setCapacity(
                    name,
                    configured,
                    CONFIGURATION,
                    "%s.capacity at the start of %s".formatted(SemaphoreProperties.property(name), owner));
            log.info("Semaphore '{}' has capacity {} instead of {}, as configured", name, configured, existing);
        } else {
            log.warn(
                    "Semaphore '{}' keeps its capacity {}, which differs from the {} that is configured: it was changed at"
                            + " run time, or the configuration was changed later. Change it by SemaphoreAdmin.setCapacity or"
                            + " the endpoint, or set semaphore.capacity-at-start=apply",
                    name,
                    existing,
                    configured);
        }
    }
}
