package io.dbsemaphore.boot.integration;

import io.dbsemaphore.boot.mutex.MutexRequests;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The locks of Spring Integration.
 *
 * @param enabled Whether a LockRegistry of Spring Integration is a bean, unless the application has one.
 * @param prefix What the names of the semaphores begin with. The key of the lock follows.
 * @param ttl After how long a lock expires that is neither released nor renewed, at least 1s.
 * @param keepAlive Whether this instance renews its locks until they are released. Otherwise they expire during work that
 *     takes longer than their time to live.
 * @param cacheCapacity How many locks this instance remembers. The semaphore of one that it forgets is deleted, unless it is
 *     in use.
 */
@ConfigurationProperties("semaphore.adapters.spring-integration")
record LockRegistryProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("integration:") String prefix,
        @DefaultValue("10s") Duration ttl,
        @DefaultValue("false") boolean keepAlive,
        @DefaultValue("256") int cacheCapacity) {

    LockRegistryProperties {
        if (cacheCapacity < 1) {
            throw new IllegalArgumentException(
                    "semaphore.adapters.spring-integration.cache-capacity must be at least 1: " + cacheCapacity);
        }
        try {
            MutexRequests unused = new MutexRequests(prefix, ttl, keepAlive);
        } catch (IllegalArgumentException invalid) {
            // Without its cause: Spring Boot shows the last one, which knows nothing of the properties
            throw new IllegalArgumentException("semaphore.adapters.spring-integration: " + invalid.getMessage());
        }
    }

    MutexRequests toRequests() {
        return new MutexRequests(prefix, ttl, keepAlive);
    }
}
