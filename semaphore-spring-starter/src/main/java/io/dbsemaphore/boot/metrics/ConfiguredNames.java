package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.config.SemaphoreSettings;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The values of the tag {@code semaphore}: the configured name, or the pattern that matches. The configuration bounds their number,
 * whatever names callers use.
 *
 * @param declared the names below {@code semaphore.semaphores}
 */
record ConfiguredNames(Set<String> declared, SemaphoreSettings settings) {

    /** The value for semaphores that are neither declared nor matched by a pattern. */
    static final String OTHER = "other";

    /** The semaphore under which the library's own maintenance works. */
    private static final String OWN = "dbsemaphore.maintenance";

    /** All values that the tag may have. */
    Set<String> all() {
        Set<String> all = new LinkedHashSet<>(declared);
        all.addAll(settings.get(SemaphoreSettings.PATTERNS).keySet());
        all.add(OTHER);
        return all;
    }

    String of(String name) {
        return declared.contains(name)
                ? name
                : settings.patternOf(name).map(Map.Entry::getKey).orElse(OTHER);
    }

    /** The values that the tag {@code share} may have for this value of the tag {@code semaphore}; none if no weights are configured. */
    Set<String> sharesOf(String configured) {
        Set<String> shares = new TreeSet<>(
                settings.get(SemaphoreSettings.WEIGHTS).of(configured).keySet());
        if (!shares.isEmpty()) {
            shares.add(OTHER);
        }
        return shares;
    }

    /** The value of the tag {@code share}: the share, or else its tenant, if a weight is configured for it. */
    String ofShare(String name, String share) {
        Set<String> weighted = settings.get(SemaphoreSettings.WEIGHTS).of(name).keySet();
        int end = share.indexOf('/');
        String tenant = end < 0 ? share : share.substring(0, end);
        return weighted.contains(share) ? share : weighted.contains(tenant) ? tenant : OTHER;
    }

    /** The distinct tag values for these names, without the library's own maintenance semaphore. */
    Set<String> of(Collection<String> names) {
        Set<String> configured = new TreeSet<>();
        for (String name : names) {
            if (!name.equals(OWN)) {
                configured.add(of(name));
            }
        }
        return configured;
    }
}
