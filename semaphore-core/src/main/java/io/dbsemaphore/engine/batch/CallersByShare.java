package io.dbsemaphore.engine.batch;

import io.dbsemaphore.line.Share;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this JVM that wait for one semaphore, by their shares, in the order of their arrival. Kept only if the number of waiting
 * callers per share is limited.
 */
final class CallersByShare {

    private static final Comparator<Acquire> BY_ARRIVAL =
            Comparator.comparingLong(CallersByShare::arrivalOf).thenComparingLong(Acquire::ticket);

    private final Map<Share, TreeSet<Acquire>> callers = new HashMap<>();

    /** The shares that callers have joined since the last {@link #takeJoined}. */
    private final Set<Share> joined = new HashSet<>();

    private static long arrivalOf(Acquire acquire) {
        return acquire.place().at() + acquire.position().headStart();
    }

    void add(Acquire acquire) {
        if (!acquire.share().isNone()) {
            boolean unused = callers.computeIfAbsent(acquire.share(), share -> new TreeSet<>(BY_ARRIVAL))
                    .add(acquire);
            joined.add(acquire.share());
        }
    }

    void remove(Acquire acquire) {
        callers.computeIfPresent(
                acquire.share(), (share, waiting) -> waiting.remove(acquire) && waiting.isEmpty() ? null : waiting);
    }

    int size(Share share) {
        TreeSet<Acquire> waiting = callers.get(share);
        return waiting == null ? 0 : waiting.size();
    }

    /** The caller with a share that came first; null if there is none. */
    @Nullable Acquire earliest(Share share) {
        TreeSet<Acquire> waiting = callers.get(share);
        return waiting == null ? null : waiting.first();
    }

    /** Removes and returns the shares that callers have joined since the last call. */
    Set<Share> takeJoined() {
        Set<Share> taken = Set.copyOf(joined);
        joined.clear();
        return taken;
    }
}
