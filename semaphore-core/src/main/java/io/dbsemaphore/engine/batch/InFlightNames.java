package io.dbsemaphore.engine.batch;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The names that rounds are at, each by one round at a time, but that a round which waits for long for the row of one name
 * does not keep the others. Guarded by the lock of the {@link GrantQueue}.
 */
final class InFlightNames {

    /** After so long a round is held up, and what it keeps others from is not kept free for them any more. */
    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    private final Map<String, Hold> holds = new HashMap<>();
    private final QueueClock clock;

    InFlightNames(QueueClock clock) {
        this.clock = clock;
    }

    /** What one round is at. */
    static final class Hold {

        private final Set<String> names;
        private final Set<String> awaited;
        private final Map<String, Long> changes = new HashMap<>();
        private final long since;

        private Hold(Set<String> names, Set<String> awaited, long since) {
            this.names = names;
            this.awaited = awaited;
            this.since = since;
        }

        private boolean isStalled(long now) {
            return now - since > STALLED_AFTER;
        }

        private boolean keeps(String name, long now) {
            return awaited.isEmpty() || awaited.contains(name) || !isStalled(now);
        }
    }

    /**
     * A round begins.
     *
     * @param awaited those whose rows it may have to wait for
     */
    Hold begin(Set<String> names, Set<String> awaited) {
        Hold hold = new Hold(names, awaited, clock.now());
        names.forEach(name -> holds.put(name, hold));
        return hold;
    }

    void end(Hold hold) {
        hold.names.forEach(name -> holds.remove(name, hold));
    }

    /** Whether no other round may be at it now. */
    boolean contains(String name) {
        Hold hold = holds.get(name);
        return hold != null && hold.keeps(name, clock.now());
    }

    boolean isStalled(String name) {
        Hold hold = holds.get(name);
        return hold != null && hold.isStalled(clock.now());
    }

    /** So many more permits are free, or fewer, while a round may have asked the database already. */
    void changed(String name, long permits) {
        Hold hold = holds.get(name);
        if (hold != null) {
            hold.changes.merge(name, permits, Long::sum);
        }
    }

    /** By how many permits what is free has changed since the round began; told once. */
    long takeChange(String name) {
        Hold hold = holds.get(name);
        Long change = hold == null ? null : hold.changes.remove(name);
        return change == null ? 0 : change;
    }
}
