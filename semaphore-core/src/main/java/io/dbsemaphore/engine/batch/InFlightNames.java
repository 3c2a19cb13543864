package io.dbsemaphore.engine.batch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The semaphores with a batch in flight, one batch each. A batch that is stalled on one row lock for more than 250 ms frees its
 * other semaphores. Guarded by the lock of the {@link GrantQueue}.
 */
final class InFlightNames {

    /** A batch that takes longer than this is stalled: acquires that it blocks do not reserve their turn any more. */
    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    private final Map<String, Registration> registrations = new HashMap<>();
    private final List<Registration> all = new ArrayList<>();
    private final QueueClock clock;

    InFlightNames(QueueClock clock) {
        this.clock = clock;
    }

    static final class Registration {

        private final Set<String> names;
        private final Set<String> awaited;
        private final boolean blocking;
        private final Map<String, Long> changes = new HashMap<>();
        private final long since;

        private Registration(Set<String> names, Set<String> awaited, boolean blocking, long since) {
            this.names = names;
            this.awaited = awaited;
            this.blocking = blocking;
            this.since = since;
        }

        private boolean isStalled(long now) {
            return now - since > STALLED_AFTER;
        }

        private boolean blocks(String name, long now) {
            return blocking && (awaited.isEmpty() || awaited.contains(name) || !isStalled(now));
        }
    }

    /**
     * Registers a batch.
     *
     * @param awaited the semaphores whose row locks it may have to wait for
     * @param blocking whether no other batch may begin for these semaphores
     */
    Registration begin(Set<String> names, Set<String> awaited, boolean blocking) {
        Registration registration = new Registration(names, awaited, blocking, clock.now());
        names.forEach(name -> registrations.put(name, registration));
        all.add(registration);
        return registration;
    }

    void end(Registration registration) {
        registration.names.forEach(name -> registrations.remove(name, registration));
        all.remove(registration);
    }

    /** Whether a batch is in flight for this semaphore, so that no other batch may begin. */
    boolean blocks(String name) {
        Registration registration = registrations.get(name);
        return registration != null && registration.blocks(name, clock.now());
    }

    /** Whether a batch is in flight for this semaphore, so that no other batch may begin, and is stalled. */
    boolean isStalled(String name) {
        Registration registration = registrations.get(name);
        return registration != null && registration.blocks(name, clock.now()) && registration.isStalled(clock.now());
    }

    /** Records that availability changed by this number of permits; the batches in flight may have read it before. */
    void changed(String name, long permits) {
        for (Registration registration : all) {
            if (registration.names.contains(name)) {
                registration.changes.merge(name, permits, Long::sum);
            }
        }
    }

    /** The change of availability since the batch began. */
    static long change(Registration registration, String name) {
        return registration.changes.getOrDefault(name, 0L);
    }
}
