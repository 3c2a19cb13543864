package io.dbsemaphore.boot.autoconfigure;

import java.util.Collection;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Finds semaphores that were meant to be configured, but are not: binding leaves out what has no capacity, be it that
 * this is misspelled, or that the name has a dot and what comes after it was taken for a property.
 */
final class UnboundSemaphores {

    private UnboundSemaphores() {}

    /**
     * Checks that all that is configured was bound.
     *
     * @throws SemaphoreConfigurationException naming the capacity that is missing
     */
    static void refuse(Environment environment, SemaphoreProperties properties) {
        refuse(environment, "semaphore.semaphores", properties.semaphores().keySet());
        refuse(environment, "semaphore.patterns", properties.patterns().keySet());
    }

    private static void refuse(Environment environment, String root, Collection<String> bound) {
        Map<String, Object> configured = Binder.get(environment)
                .bind(root, Bindable.mapOf(String.class, Object.class))
                .orElse(Map.of());
        for (String name : configured.keySet()) {
            if (!bound.contains(name)) {
                throw new SemaphoreConfigurationException(
                        SemaphoreProperties.property(root, name) + ".capacity is missing.",
                        "Set it. If this is but the beginning of a name, put the name in brackets: %s.[%s.example].capacity"
                                .formatted(root, name));
            }
        }
    }
}
