package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.InstanceRepository.Silent;
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
 * Which instances are dead: those whose heartbeat was overdue twice, a grace apart. Once is not enough, since after an
 * outage of the database every heartbeat is overdue until its JVM has had the time to send the next.
 */
final class SuspectInstances {

    /** As many as are remembered beside those that are silent now. */
    private static final int MAX_REMEMBERED = 1_000;

    private final long graceNanos;
    private final LongSupplier nanoClock;
    /** Those at the beginning were not seen for the longest. */
    private final Map<Long, Sighting> sightings = new LinkedHashMap<>();

    /** The last reading of a silent instance, and when it was first seen silent since its last heartbeat. */
    private record Sighting(Silent silent, long nanos) {}

    SuspectInstances(Duration grace) {
        this(grace, System::nanoTime);
    }

    SuspectInstances(Duration grace, LongSupplier nanoClock) {
        this.graceNanos = grace.toNanos();
        this.nanoClock = nanoClock;
    }

    synchronized int remembered() {
        return sightings.size();
    }

    /** Takes note of instances that are silent now, and returns those that were so for the grace. */
    synchronized Set<Long> dead(Collection<Silent> suspectNow) {
        long now = nanoClock.getAsLong();
        Set<Long> dead = new TreeSet<>();
        for (Silent silent : suspectNow) {
            Sighting known = sightings.remove(silent.instance());
            Sighting sighting =
                    new Sighting(silent, known != null && known.silent().isSameSilence(silent) ? known.nanos() : now);
            sightings.put(silent.instance(), sighting);
            if (now - sighting.nanos() >= graceNanos) {
                dead.add(silent.instance());
            }
        }
        forgetWhatWasNotSeenForLong(Math.max(MAX_REMEMBERED, suspectNow.size()));
        return dead;
    }

    /** What was read last of an instance that is silent; empty when it is not remembered. */
    synchronized Optional<DeadInstance> find(long instance) {
        return Optional.ofNullable(sightings.get(instance))
                .map(Sighting::silent)
                .map(Silent::toDead);
    }

    private void forgetWhatWasNotSeenForLong(int remember) {
        Iterator<Long> oldest = sightings.keySet().iterator();
        while (sightings.size() > remember) {
            oldest.next();
            oldest.remove();
        }
    }
}
