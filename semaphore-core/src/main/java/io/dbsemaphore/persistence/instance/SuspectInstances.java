package io.dbsemaphore.persistence.instance;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.instance.InstanceRepository.Suspect;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * Decides which instances are dead: those whose heartbeat was overdue in two reads, at least the grace period apart. One
 * read is not enough: after an outage of the database every heartbeat is overdue until its JVM has sent the next one.
 */
final class SuspectInstances {

    /** The number of instances that are cached in addition to the current suspects. */
    private static final int MAX_CACHED = 1_000;

    private final long graceNanos;
    private final LongSupplier nanoClock;
    /** Least recently seen first. */
    private final Map<Long, Sighting> sightings = new LinkedHashMap<>();

    /** The last read of a suspect instance, and when it was first suspect after its last heartbeat. */
    private record Sighting(Suspect suspect, long nanos) {}

    SuspectInstances(Duration grace) {
        this(grace, System::nanoTime);
    }

    SuspectInstances(Duration grace, LongSupplier nanoClock) {
        this.graceNanos = grace.toNanos();
        this.nanoClock = nanoClock;
    }

    synchronized int cached() {
        return sightings.size();
    }

    /** Records the instances that are suspect now, and returns those that have been suspect for the grace period. */
    synchronized Set<Long> dead(Collection<Suspect> suspectNow) {
        long now = nanoClock.getAsLong();
        Set<Long> dead = new TreeSet<>();
        for (Suspect suspect : suspectNow) {
            Sighting known = sightings.remove(suspect.instance());
            Sighting sighting =
                    new Sighting(suspect, known != null && known.suspect().isUnchanged(suspect) ? known.nanos() : now);
            sightings.put(suspect.instance(), sighting);
            if (now - sighting.nanos() >= graceNanos) {
                dead.add(suspect.instance());
            }
        }
        evictLeastRecentlySeen(Math.max(MAX_CACHED, suspectNow.size()));
        return dead;
    }

    /** The last read of a suspect instance; empty if it is not cached. */
    synchronized Optional<DeadInstance> find(long instance) {
        return Optional.ofNullable(sightings.get(instance))
                .map(Sighting::suspect)
                .map(Suspect::toDead);
    }

    private void evictLeastRecentlySeen(int limit) {
        Iterator<Long> oldest = sightings.keySet().iterator();
        while (sightings.size() > limit) {
            oldest.next();
            oldest.remove();
        }
    }
}
