package io.dbsemaphore.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The names that rounds are at, each by one round at a time. Guarded by the lock of the {@link GrantBoard}. */
final class BusyNames {

    /** After so long a round is held up, and what it keeps others from is not kept free for them any more. */
    private static final long HELD_UP_AFTER = Duration.ofMillis(250).toNanos();

    private final Map<String, Busy> names = new HashMap<>();

    private static final class Busy {

        private final long since = System.nanoTime();
        private long released;
    }

    void begin(Collection<String> begun) {
        begun.forEach(name -> names.put(name, new Busy()));
    }

    void end(Collection<String> ended) {
        names.keySet().removeAll(ended);
    }

    Set<String> all() {
        return names.keySet();
    }

    boolean contains(String name) {
        return names.containsKey(name);
    }

    boolean isHeldUp(String name) {
        Busy busy = names.get(name);
        return busy != null && System.nanoTime() - busy.since > HELD_UP_AFTER;
    }

    /** Permits were released while a round may have asked the database already. */
    void released(String name, long permits) {
        Busy busy = names.get(name);
        if (busy != null) {
            busy.released += permits;
        }
    }

    /** What was released since the round began; told once, since the first who hears it passes it on. */
    long takeReleased(String name) {
        Busy busy = names.get(name);
        if (busy == null) {
            return 0;
        }
        long released = busy.released;
        busy.released = 0;
        return released;
    }
}
