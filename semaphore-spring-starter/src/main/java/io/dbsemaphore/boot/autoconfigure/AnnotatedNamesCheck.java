package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.config.SemaphorePatterns;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Finds names in annotations that no call can acquire, after all singletons have been created. Without this check a
 * misspelled name would only fail the first call. Names with expressions are known only when the method is called.
 */
final class AnnotatedNamesCheck {

    private AnnotatedNamesCheck() {}

    /** @throws SemaphoreConfigurationException for the first unknown name */
    static void check(
            SemaphoreAdmin admin,
            SemaphoreProperties properties,
            SemaphorePatterns patterns,
            Stream<WithPermitsAdvisor> advisors) {
        if (properties.aop().allowUnknownNames()) {
            return;
        }
        SortedMap<String, String> methodsByName = new TreeMap<>();
        advisors.forEach(advisor -> methodsByName.putAll(advisor.literalNames()));
        methodsByName.entrySet().stream()
                .filter(named -> !properties.semaphores().containsKey(named.getKey()))
                .filter(named -> patterns.match(named.getKey()).isEmpty())
                .filter(named -> admin.find(named.getKey()).isEmpty())
                .findFirst()
                .ifPresent(unknown -> refuse(unknown, admin, properties));
    }

    private static void refuse(
            Map.Entry<String, String> unknown, SemaphoreAdmin admin, SemaphoreProperties properties) {
        String name = unknown.getKey();
        Set<String> existing = new TreeSet<>(properties.semaphores().keySet());
        admin.list().forEach(semaphore -> existing.add(semaphore.name()));
        String meant = SemaphoreName.nearest(name, existing)
                .map(" Did you mean '%s'?"::formatted)
                .orElse("");
        throw new SemaphoreConfigurationException("""
                @WithPermits on %s names the semaphore '%s', which is not declared, does not match a pattern and is not \
                in the database: each call would fail.%s""".formatted(unknown.getValue(), name, meant), """
                Do one of these:
                    - Correct the name. Names are compared byte for byte; declared are %s, and the patterns %s
                    - Declare it: %s.capacity
                    - Create it in the database before the application starts
                    - If the application creates it after its start, set semaphore.aop.allow-unknown-names=true""".formatted(
                properties.semaphores().keySet(), properties.patterns().keySet(), SemaphoreProperties.property(name)));
    }
}
