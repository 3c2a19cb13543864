package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.RemainingAvailability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers of other JVMs in where this JVM hands permits over within itself. A release that is piggy-backed on the next
 * local grant never shows a free permit to the availability poller of another JVM. So a JVM whose callers wait while others
 * are granted says so: it raises the semaphore's fence by {@link #ANNOUNCEMENT}. Who hands over sees that in its next batch
 * or poll, commits its next release by itself, and wakes none of its own waiters for a pause that is longer than the
 * interval at which the other one polls. Where nobody of another JVM waits, nothing of this happens.
 *
 * <p>A stopgap until the callers of all JVMs wait in one queue. Guarded by the lock of the {@link GrantQueue}.
 */
final class HandoverPauses {

    /** By so much an announcement raises the fence; fewer permits are granted between two looks at it. */
    static final long ANNOUNCEMENT = 1_000;

    private static final long EVERY = Duration.ofMillis(250).toNanos();
    private static final long SHORTEST = Duration.ofMillis(50).toNanos();
    private static final long LONGEST = Duration.ofMillis(500).toNanos();

    /** A pause is at most such a part of the time since this JVM was last granted a permit of the semaphore. */
    private static final int PART = 4;

    /** So long after another JVM was granted permits, it is likely to be granted more. */
    private static final long TURNOVER = Duration.ofSeconds(2).toNanos();

    private static final int MAX_NAMES = 1_000;

    private final Map<String, Observed> observed = new LinkedHashMap<>(16, 0.75f, true);
    private final Set<String> paused = new HashSet<>();
    private final QueueClock clock;

    HandoverPauses(QueueClock clock) {
        this.clock = clock;
    }

    /** What is known of one semaphore. Instants are of this JVM's monotonic clock. */
    private static final class Observed {

        private long fence;
        private long changedAt;
        private long grantedAt;
        private @Nullable Long grantedElsewhereAt;
        private boolean isUnanswered;
        private boolean othersWait;
        private long pauseBegunAt;
        private long pauseNanos;
        private long announcedAt;

        private Observed(long fence, long now) {
            this.fence = fence;
            changedAt = now;
            grantedAt = now;
            pauseBegunAt = now - EVERY;
            announcedAt = now - EVERY;
        }

        /** Compares the fence with the last that was seen, or left. */
        private void see(long seen, long now) {
            long raised = seen - fence;
            if (raised >= ANNOUNCEMENT) {
                othersWait = true;
            }
            if (raised > 0 && raised % ANNOUNCEMENT != 0) {
                grantedElsewhereAt = now;
                isUnanswered = true;
                pauseNanos = 0;
            }
            fence = Math.max(fence, seen);
        }

        private long pauseRemaining(long now) {
            return pauseBegunAt + pauseNanos - now;
        }
    }

    /** What a batch of this JVM has found and left, where somebody waits or waited. */
    void batch(String name, RemainingAvailability availability, boolean isAwaited) {
        long now = clock.now();
        Observed state = observed.get(name);
        if (state == null) {
            if (!isAwaited) {
                return;
            }
            state = new Observed(availability.fenceBefore(), now);
            remember(name, state);
        }
        state.see(availability.fenceBefore(), now);
        if (availability.fence() > availability.fenceBefore()) {
            state.grantedAt = now;
        }
        state.fence = availability.fence();
        state.changedAt = now;
    }

    private void remember(String name, Observed state) {
        observed.put(name, state);
        if (observed.size() > MAX_NAMES) {
            String eldest = observed.keySet().iterator().next();
            observed.remove(eldest);
        }
    }

    /** What the poller has read, when no batch was in flight. */
    void polled(String name, long fence, long asOf) {
        Observed state = observed.get(name);
        if (state != null && state.changedAt - asOf < 0) {
            state.see(fence, clock.now());
        }
    }

    /**
     * Whether a release of these is to be seen by other JVMs, since callers of theirs wait and it is time. Then a pause
     * begins.
     */
    boolean begin(Collection<String> names) {
        boolean begun = false;
        long now = clock.now();
        for (String name : names) {
            Observed state = observed.get(name);
            if (state != null && state.othersWait && now - state.pauseBegunAt >= EVERY) {
                state.othersWait = false;
                state.pauseBegunAt = now;
                state.pauseNanos = Math.min(LONGEST, Math.max(SHORTEST, (now - state.grantedAt) / PART));
                state.announcedAt = now; // its own callers have had their turn for now
                paused.add(name);
                begun = true;
            }
            begun |= isPaused(name);
        }
        return begun;
    }

    /** Permits were released: a pause that has begun for that begins now. */
    void released(Collection<String> names) {
        if (!paused.isEmpty()) {
            long now = clock.now();
            names.stream().filter(this::isPaused).forEach(name -> {
                Observed state = observed.get(name);
                if (state != null && now - state.pauseBegunAt < EVERY) {
                    state.pauseBegunAt = now;
                }
            });
        }
    }

    /** Whether this JVM's own waiters are not to be woken. */
    boolean isPaused(String name) {
        return paused.contains(name) && remaining(name) > 0;
    }

    private long remaining(String name) {
        Observed state = observed.get(name);
        return state == null ? 0 : state.pauseRemaining(clock.now());
    }

    /** How long until the first pause is over; {@link Long#MAX_VALUE} when none is. */
    long nanosToEnd() {
        return paused.stream().mapToLong(this::remaining).min().orElse(Long.MAX_VALUE);
    }

    /** Forgets the pauses that are over, and returns their names. */
    List<String> end() {
        List<String> ended = new ArrayList<>(paused);
        ended.removeIf(this::isPaused);
        paused.removeAll(ended);
        return ended;
    }

    /** Those of these semaphores of which other JVMs have been granted permits lately. */
    boolean isTurnover(Collection<String> names) {
        long now = clock.now();
        return names.stream().map(observed::get).anyMatch(state -> state != null && isTurnover(state, now));
    }

    private static boolean isTurnover(Observed state, long now) {
        Long at = state.grantedElsewhereAt;
        return at != null && now - at < TURNOVER;
    }

    /** Whether it is to be announced that callers of this JVM wait: another one was granted permits since the last time. */
    boolean isToBeAnnounced(String name) {
        Observed state = observed.get(name);
        return state != null && state.isUnanswered && clock.now() - state.announcedAt >= EVERY;
    }

    /** It was announced, which left this fence. */
    void announced(String name, long fence) {
        Observed state = observed.get(name);
        if (state != null) {
            state.fence = Math.max(fence, state.fence);
            state.isUnanswered = false;
            state.announcedAt = clock.now();
        }
    }
}
