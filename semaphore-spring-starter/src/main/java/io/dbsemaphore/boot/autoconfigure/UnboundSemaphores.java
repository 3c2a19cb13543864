package io.dbsemaphore.boot.autoconfigure;

import java.util.Collection;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Finds configured semaphores that were not bound: binding omits entries without a capacity, because it is misspelled, or
 * because the name contains a dot and the part after it was taken for a property.
 */
final class UnboundSemaphores {

    private UnboundSemaphores() {}

    /** @throws SemaphoreConfigurationException naming the missing capacity */
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
                        "Set it. If this is only the beginning of a name, put the whole name in brackets: %s.[%s.example].capacity"
                                .formatted(root, name));
            }
        }
    }
}
