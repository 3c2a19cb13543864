package io.dbsemaphore.boot.shedlock;

import io.dbsemaphore.boot.mutex.MutexRequests;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The locks of ShedLock.
 *
 * @param enabled Whether a LockProvider of ShedLock is a bean, unless the application has one.
 * @param prefix What the names of the semaphores begin with. The name of the lock follows.
 */
@ConfigurationProperties("semaphore.adapters.shedlock")
record LockProviderProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("shedlock:") String prefix) {

    LockProviderProperties {
        try {
            MutexRequests unused = SemaphoreLockProvider.requests(prefix);
        } catch (IllegalArgumentException invalid) {
            // Without its cause: Spring Boot shows the last one, which knows nothing of the properties
            throw new IllegalArgumentException("semaphore.adapters.shedlock: " + invalid.getMessage());
        }
    }
}
