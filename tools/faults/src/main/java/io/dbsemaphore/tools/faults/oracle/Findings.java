package io.dbsemaphore.tools.faults.oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The violations that were found, by kind; of each kind the first are kept. Thread-safe. */
public final class Findings {

    /** Kinds of violations. */
    public enum Kind {
        /** More permits surely held at one time than the capacity. */
        OVER_GRANT("Over-grants"),
        /** A request that was granted twice. */
        DOUBLE_GRANT("Double grants"),
        /** A fencing token that is not above one that was granted before, or was granted twice. */
        FENCING("Fencing tokens out of order"),
        /** A write that {@code requireHeld} let through although the permit had been granted to another. */
        STALE_WRITE("Stale writes let through `requireHeld`"),
        /** A write that {@code requireHeld} refused although the permit was surely held. */
        REFUSED_WRITE("Legitimate writes refused by `requireHeld`"),
        /** Permits that could not be acquired after all that held them had ended or expired. */
        LEAK("Leaked permits"),
        /** An acquire that was not answered, or one of unknown outcome that was still held after its TTL. */
        UNRESOLVED("Unresolved outcomes"),
        /** Permits of a killed client that came back too late although nothing else was disturbed. */
        LATE_RECOVERY("Permits of killed clients that came back late"),
        /** While a caller with a share waited, another share was granted more than is promised. */
        UNFAIR("Waits beyond the fair share"),
        /** A commit in the server's log after which more permits were held than the capacity. */
        LOGGED_OVER_GRANT("Commits above the capacity in the server's log");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        /** As a report calls it. */
        public String label() {
            return label;
        }
    }

    private static final int KEPT = 20;

    private final Map<Kind, Integer> counts = new LinkedHashMap<>();
    private final Map<Kind, List<String>> first = new LinkedHashMap<>();

    /** Adds a violation. */
    public synchronized void add(Kind kind, String description) {
        counts.merge(kind, 1, Integer::sum);
        List<String> kept = first.computeIfAbsent(kind, any -> new ArrayList<>());
        if (kept.size() < KEPT) {
            kept.add(description);
        }
    }

    /** How many violations of this kind were found. */
    public synchronized int count(Kind kind) {
        return counts.getOrDefault(kind, 0);
    }

    /** The first violations of this kind. */
    public synchronized List<String> descriptions(Kind kind) {
        return List.copyOf(first.getOrDefault(kind, List.of()));
    }

    /** Whether there is none. */
    public synchronized boolean isEmpty() {
        return counts.isEmpty();
    }

    @Override
    public synchronized String toString() {
        return first.toString();
    }
}
