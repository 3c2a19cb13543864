package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.BackOff;
import io.dbsemaphore.domain.RemainingAvailability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Backs off after conflicts with other instances that grant the same semaphores. After a batch was rolled back in favor of
 * another transaction, no batch of its semaphores begins during a back-off with full jitter, which doubles with each further conflict.
 *
 * <p>On servers that {@linkplain io.dbsemaphore.jdbc.Database#certifiesWrites certify writes}, conflicts are frequent, and back-off
 * alone favors the instance that won, as in the capture effect of Ethernet. So an instance that has granted a semaphore with conflicts for
 * a time slice leaves it to others for the same time.
 *
 * <p>A semaphore whose row another transaction has locked also pauses briefly. If its callers paused one by one, later ones could
 * overtake them.
 *
 * <p>Has no effect without conflicts and locked rows.
 *
 * @see <a href="https://doi.org/10.1109/LCN.1994.386597">Ramakrishnan and Yang, The Ethernet Capture Effect: Analysis and
 *     Solution, 1994</a>
 * @see <a href="https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/">Exponential Backoff And Jitter</a>
 */
final class ConflictBackOff {

    /** Up to 10, 20 and 40 ms. */
    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(5), 2, Duration.ofMillis(20), 1);

    private static final long LOCKED = Duration.ofMillis(2).toNanos();

    private static final long SLICE = Duration.ofMillis(50).toNanos();

    /** How long further conflicts are expected after the last one. */
    private static final long PERSISTS = Duration.ofSeconds(2).toNanos();

    private final Map<String, Conflict> conflicts = new HashMap<>();
    private final boolean takesTurns;
    private final QueueClock clock;

    /** The conflicts over one semaphore. Instants are of this JVM's monotonic clock. */
    private static final class Conflict {

        private int conflictsInARow;
        private long conflictAt;
        private long grantedAt;
        private long sliceStartedAt;
        private long pausedUntil;

        private Conflict(long now) {
            conflictAt = now - PERSISTS - 1; // none yet
            grantedAt = now - SLICE;
            pausedUntil = now;
        }

        private boolean isPaused(long now) {
            return pausedUntil - now > 0;
        }

        private boolean isOver(long now) {
            return now - conflictAt > PERSISTS;
        }
    }

    /**
     * Creates an instance without conflicts.
     *
     * @param takesTurns whether semaphores with conflicts are left to other instances after a time slice
     */
    ConflictBackOff(boolean takesTurns, QueueClock clock) {
        this.takesTurns = takesTurns;
        this.clock = clock;
    }

    /** Records that a batch was rolled back in favor of another transaction. All its semaphores pause until the same instant. */
    void conflict(Collection<String> names) {
        long now = clock.now();
        removeFormer(now);
        int inARow = 0;
        List<Conflict> states = new ArrayList<>();
        for (String name : names) {
            Conflict state = conflicts.computeIfAbsent(name, each -> new Conflict(now));
            state.conflictAt = now;
            inARow = Math.max(inARow, ++state.conflictsInARow);
            states.add(state);
        }
        long until = now + PAUSES.after(inARow, clock::random).toNanos();
        states.forEach(state -> state.pausedUntil = until);
    }

    /** Records that another transaction had locked the row of a semaphore again. The semaphore pauses for 2 to 20 ms. */
    void locked(String name) {
        long now = clock.now();
        removeFormer(now);
        Conflict state = conflicts.computeIfAbsent(name, each -> new Conflict(now));
        if (!state.isPaused(now)) {
            state.pausedUntil = now + LOCKED + clock.random(9 * LOCKED);
        }
    }

    private void removeFormer(long now) {
        conflicts.values().removeIf(state -> state.isOver(now) && !state.isPaused(now));
    }

    /** Records a committed batch of this instance. */
    void committed(String name, RemainingAvailability remaining) {
        Conflict state = conflicts.get(name);
        if (state != null && remaining.fence() > remaining.fenceBefore()) {
            state.conflictsInARow = 0;
            if (takesTurns) {
                granted(name, state);
            }
        }
    }

    private void granted(String name, Conflict state) {
        long now = clock.now();
        if (now - state.grantedAt >= SLICE) {
            state.sliceStartedAt = now;
        }
        state.grantedAt = now;
        if (state.isOver(now)) {
            conflicts.remove(name);
        } else if (now - state.sliceStartedAt >= SLICE) {
            state.pausedUntil = now + SLICE + clock.random(SLICE / 2);
        }
    }

    /** Whether one of these semaphores pauses, so that no batch with it may begin. */
    boolean isPaused(Collection<String> names) {
        return !conflicts.isEmpty()
                && names.stream().map(conflicts::get).anyMatch(state -> state != null && state.isPaused(clock.now()));
    }

    /** The time until the first pause ends; {@link Long#MAX_VALUE} when there is none. */
    long nanosToEnd() {
        long now = clock.now();
        long first = Long.MAX_VALUE;
        for (Conflict state : conflicts.values()) {
            first = state.isPaused(now) ? Math.min(first, state.pausedUntil - now) : first;
        }
        return first;
    }
}
