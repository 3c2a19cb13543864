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
 * @param earliestExpiry when the first of the held permits may be reclaimed, by the database's clock, unless its holder
 *     renews it or, where it is kept alive, its instance sends a heartbeat; empty where that is never
 * @param withheld how many of the free permits were withheld for callers that came earlier and wait: for all that they
 *     ask for, which may include other semaphores, or in another instance
 */
public record PermitShortage(
        String name, int capacity, long held, int requested, Optional<Instant> earliestExpiry, long withheld) {

    /** Creates a shortage where no free permit was withheld. */
    public PermitShortage(String name, int capacity, long held, int requested, Optional<Instant> earliestExpiry) {
        this(name, capacity, held, requested, earliestExpiry, 0);
    }

    /** Whether there was room, but for what was {@linkplain #withheld withheld}. */
    public boolean isWithheld() {
        return withheld > 0 && held + requested <= capacity;
    }
}
