package io.dbsemaphore.line;

import java.time.Duration;
import java.time.LocalDateTime;

/**
 * Decides when permits are withheld for callers that wait for several semaphores. Such a caller may find enough permits of some
 * semaphores and too few of the others. While the window is open, permits of all its semaphores are withheld from callers that came later,
 * so that all of them become available at the same time. While it is closed, none are withheld for such callers, so that permits do not
 * stay unused. The window depends on the database's clock only, and is the same for all semaphores and instances.
 */
public final class ReservationWindow {

    private static final long PERIOD = Duration.ofSeconds(2).toNanos() / 1_000;
    private static final long OPEN = Duration.ofMillis(900).toNanos() / 1_000;

    private ReservationWindow() {}

    public static boolean isOpen(LocalDateTime now) {
        return isOpen(Place.micros(now));
    }

    /** Whether the window is open at this time, in microseconds since 1970 by the database's clock. */
    public static boolean isOpen(long now) {
        return Math.floorMod(now, PERIOD) < OPEN;
    }
}
