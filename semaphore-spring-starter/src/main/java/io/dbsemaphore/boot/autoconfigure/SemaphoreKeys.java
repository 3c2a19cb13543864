package io.dbsemaphore.boot.autoconfigure;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;

/**
 * Finds configured semaphores that binding changes or omits. Without brackets it drops all characters except letters, digits,
 * dashes and dots, so that {@code tenant:a} would create a semaphore {@code tenanta}. It omits entries without a capacity, because
 * that is misspelled, or because the name contains a dot and the part after it was taken for a property.
 */
final class SemaphoreKeys {

    private static final String SEMAPHORES = "semaphore.semaphores";
    private static final String PATTERNS = "semaphore.patterns";
    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9.-]*");

    private SemaphoreKeys() {}

    /** @throws SemaphoreConfigurationException naming the first key that needs brackets */
    static void refuseUnbracketed(Environment environment) {
        if (environment instanceof ConfigurableEnvironment configurable) {
            configurable.getPropertySources().stream()
                    .filter(EnumerablePropertySource.class::isInstance)
                    .flatMap(source -> Arrays.stream(((EnumerablePropertySource<?>) source).getPropertyNames()))
                    .forEach(name -> {
                        refuseUnbracketed(name, SEMAPHORES);
                        refuseUnbracketed(name, PATTERNS);
                    });
        }
    }

    private static void refuseUnbracketed(String name, String root) {
        if (!name.startsWith(root + ".")) {
            return;
        }
        String key = name.substring(root.length() + 1, Math.max(root.length() + 1, name.lastIndexOf('.')));
        if (!key.startsWith("[") && !KEPT.matcher(key).matches()) {
            throw new SemaphoreConfigurationException(
                    "%s.%s contains characters that are lost unless the key is in brackets.".formatted(root, key),
                    "Write %s.[%s].capacity, or in YAML \"[%s]\" with the quotes.".formatted(root, key, key));
        }
    }

    /** @throws SemaphoreConfigurationException naming the missing capacity */
    static void refuseUnbound(Environment environment, SemaphoreProperties properties) {
        refuseUnbound(environment, SEMAPHORES, properties.semaphores().keySet());
        refuseUnbound(environment, PATTERNS, properties.patterns().keySet());
    }

    private static void refuseUnbound(Environment environment, String root, Collection<String> bound) {
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
