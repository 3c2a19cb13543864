package io.dbsemaphore.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A clock that tests move. The thread that moves it also does what is due at the new time; futures of {@code acquireAsync} are then
 * completed on another thread. Thread-safe.
 *
 * <p>A {@linkplain #running() running} clock goes on from the time it was moved to, so that waits end even in a test that does not move it.
 * A {@linkplain #stoppedAt stopped} clock changes only when it is moved. Code that needs a {@link Clock} gets one from {@link #withZone}.
 */
public final class MovableClock implements InstantSource {

    private final List<Runnable> actions = new CopyOnWriteArrayList<>();
    private final Clock base;
    private volatile Duration offset = Duration.ZERO;

    private MovableClock(Clock base) {
        this.base = base;
    }

    /** {@return a clock that begins at the current time, and runs} */
    public static MovableClock running() {
        return new MovableClock(Clock.systemUTC());
    }

    /**
     * Creates a clock that does not run.
     *
     * @param instant its time until it is moved
     * @return the clock
     */
    public static MovableClock stoppedAt(Instant instant) {
        return new MovableClock(Clock.fixed(instant, ZoneOffset.UTC));
    }

    /**
     * Moves this clock.
     *
     * @param duration how far; a negative one moves it back
     */
    public void advance(Duration duration) {
        synchronized (this) {
            offset = offset.plus(duration);
        }
        actions.forEach(Runnable::run);
    }

    /**
     * Moves this clock to a time.
     *
     * @param instant the time
     */
    public void set(Instant instant) {
        advance(Duration.between(instant(), instant));
    }

    /** Runs an action after each move of this clock, on the thread that moves it. */
    void onMove(Runnable action) {
        actions.add(action);
    }

    @Override
    public Instant instant() {
        return base.instant().plus(offset);
    }
}
