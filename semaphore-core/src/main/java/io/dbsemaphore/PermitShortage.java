package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;

/**
 * One semaphore of an acquire, as it stood when the acquire was refused.
 *
 * @param name the semaphore
 * @param capacity its capacity; 0 when paused
 * @param held how many permits were held
 * @param requested how many permits were asked for; the capacity where the acquire was exclusive
 * @param earliestExpiry when the first of the held permits expires, by the database's clock, unless it is renewed;
 *     empty where none has an expiry
 */
public record PermitShortage(String name, int capacity, long held, int requested, Optional<Instant> earliestExpiry) {}
