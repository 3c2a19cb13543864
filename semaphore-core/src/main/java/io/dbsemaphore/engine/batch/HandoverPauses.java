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
 * Gives callers of other JVMs a chance while this JVM hands permits from one of its callers to the next. A release that is
 * piggy-backed on the next local grant never shows an available permit to the availability poller of another JVM. So a JVM
 * whose callers wait while other JVMs are granted permits announces that: it raises the semaphore's fence by {@link
 * #ANNOUNCEMENT}. The JVM that hands over reads that in its next batch or poll, commits its next release in a transaction of its
 * own, and wakes none of its waiters for a pause that is longer than the polling interval of the other JVM. Has no effect while
 * no caller of another JVM waits.
 *
 * <p>An interim solution until the callers of all JVMs wait in one queue. Guarded by the lock of the {@link GrantQueue}.
 */
final class HandoverPauses {

    /** An announcement raises the fence by this; fewer permits are granted between two readings of the fence. */
    static final long ANNOUNCEMENT = 1_000;

    private static final long INTERVAL = Duration.ofMillis(250).toNanos();
    private static final long MIN_PAUSE = Duration.ofMillis(50).toNanos();
    private static final long MAX_PAUSE = Duration.ofMillis(500).toNanos();

    /** A pause is at most the time since this JVM was last granted a permit of the semaphore, divided by this. */
    private static final int DIVISOR = 4;

    /** How long another JVM that was granted permits is likely to be granted more. */
    private static final long TURNOVER = Duration.ofSeconds(2).toNanos();

    private static final int MAX_NAMES = 1_000;

    private final Map<String, Observed> observed = new LinkedHashMap<>(16, 0.75f, true);
    private final Set<String> paused = new HashSet<>();
    private final QueueClock clock;

    HandoverPauses(QueueClock clock) {
        this.clock = clock;
    }

    /** The observed state of one semaphore. Instants are of this JVM's monotonic clock. */
    private static final class Observed {

        private long fence;
        private long changedAt;
        private long grantedAt;
        private @Nullable Long grantedElsewhereAt;
        private boolean isUnanswered;
        private boolean othersWait;
        private long pauseStartedAt;
        private long pauseNanos;
        private long announcedAt;

        private Observed(long fence, long now) {
            this.fence = fence;
            changedAt = now;
            grantedAt = now;
            pauseStartedAt = now - INTERVAL;
            announcedAt = now - INTERVAL;
        }

        /** Compares the fence with the last one that this JVM has read or written. */
        private void observe(long current, long now) {
            long raised = current - fence;
            if (raised >= ANNOUNCEMENT) {
                othersWait = true;
            }
            if (raised > 0 && raised % ANNOUNCEMENT != 0) {
                grantedElsewhereAt = now;
                isUnanswered = true;
                pauseNanos = 0;
            }
            fence = Math.max(fence, current);
        }

        private long pauseRemaining(long now) {
            return pauseStartedAt + pauseNanos - now;
        }
    }

    /** Records what a batch of this JVM has read and written, if callers wait or waited for the semaphore. */
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
        state.observe(availability.fenceBefore(), now);
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

    /** Records what the poller has read while no batch was in flight. */
    void polled(String name, long fence, long asOf) {
        Observed state = observed.get(name);
        if (state != null && state.changedAt - asOf < 0) {
            state.observe(fence, clock.now());
        }
    }

    /**
     * Begins a pause if callers of other JVMs wait for one of these semaphores and the last pause is long enough ago.
     *
     * @return whether a pause is in progress, so that a release must be visible to other JVMs
     */
    boolean begin(Collection<String> names) {
        boolean begun = false;
        long now = clock.now();
        for (String name : names) {
            Observed state = observed.get(name);
            if (state != null && state.othersWait && now - state.pauseStartedAt >= INTERVAL) {
                state.othersWait = false;
                state.pauseStartedAt = now;
                state.pauseNanos = Math.min(MAX_PAUSE, Math.max(MIN_PAUSE, (now - state.grantedAt) / DIVISOR));
                state.announcedAt = now; // callers of this JVM were served, so no announcement is due
                paused.add(name);
                begun = true;
            }
            begun |= isPaused(name);
        }
        return begun;
    }

    /** Restarts the pauses that were begun for this release, now that the permits are released. */
    void released(Collection<String> names) {
        if (!paused.isEmpty()) {
            long now = clock.now();
            names.stream().filter(this::isPaused).forEach(name -> {
                Observed state = observed.get(name);
                if (state != null && now - state.pauseStartedAt < INTERVAL) {
                    state.pauseStartedAt = now;
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

    /** The time until the first pause ends; {@link Long#MAX_VALUE} when there is none. */
    long nanosToEnd() {
        return paused.stream().mapToLong(this::remaining).min().orElse(Long.MAX_VALUE);
    }

    /** Removes the pauses that have ended, and returns their semaphores. */
    List<String> end() {
        List<String> ended = new ArrayList<>(paused);
        ended.removeIf(this::isPaused);
        paused.removeAll(ended);
        return ended;
    }

    /** Whether other JVMs were recently granted permits of one of these semaphores. */
    boolean isTurnover(Collection<String> names) {
        long now = clock.now();
        return names.stream().map(observed::get).anyMatch(state -> state != null && isTurnover(state, now));
    }

    private static boolean isTurnover(Observed state, long now) {
        Long at = state.grantedElsewhereAt;
        return at != null && now - at < TURNOVER;
    }

    /** Whether an announcement is due: another JVM was granted permits since the last one. */
    boolean isAnnouncementDue(String name) {
        Observed state = observed.get(name);
        return state != null && state.isUnanswered && clock.now() - state.announcedAt >= INTERVAL;
    }

    /** Records an announcement, and the fence that it wrote. */
    void announced(String name, long fence) {
        Observed state = observed.get(name);
        if (state != null) {
            state.fence = Math.max(fence, state.fence);
            state.isUnanswered = false;
            state.announcedAt = clock.now();
        }
    }
}
