package io.dbsemaphore.boot.mutex;

/**
 * A pattern that an adapter needs: the semaphores that it makes have one permit, unless a pattern of the application's properties
 * says otherwise.
 *
 * @param pattern the pattern, with a {@code *}
 */
public record MutexPattern(String pattern) {}
