package io.dbsemaphore.engine.batch;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Tells when callers of this JVM have arrived, by the database's clock: their places in the order of the callers of all JVMs. Within
 * this JVM the places never decrease, so that callers are served in the order in which they came, whatever batch they are in.
 *
 * <p>Each answer of the database bounds the offset between its clock and this JVM's monotonic clock: it was given after the question was
 * sent and before the answer arrived (Cristian, <a href="https://doi.org/10.1007/BF01784024">Probabilistic Clock
 * Synchronization</a>, 1989). A caller that comes while there is no recent answer gets its place from the next one. Guarded by the lock
 * of {@link WorkQueue}.
 */
final class ArrivalClock {

    /** How long an offset is used: clocks drift by some microseconds in a second. */
    private static final long RECENT = Duration.ofSeconds(10).toNanos();

    /** If the database's clock is set back by more than this, the places follow it. */
    private static final long MAX_STEP = TimeUnit.SECONDS.toMicros(1);

    private final QueueClock clock;
    private final long origin;
    private boolean read;
    private long offset;
    private long firstOffset;
    private long readAt;
    private long latest = Long.MIN_VALUE;

    ArrivalClock(QueueClock clock) {
        this.clock = clock;
        origin = clock.now();
    }

    /**
     * Records an answer of the database.
     *
     * @param micros its clock when it gave the answer, in microseconds since 1970
     * @param asOf this JVM's monotonic clock before the database was asked
     */
    void read(long micros, long asOf) {
        long now = clock.now();
        long atLeast = micros - elapsed(now);
        long atMost = micros - elapsed(asOf);
        if (isRecent(now)) {
            offset = Math.min(Math.max(offset, atLeast), atMost);
        } else {
            offset = atLeast;
            firstOffset = atLeast;
        }
        readAt = now;
        read = true;
    }

    /** Gives a new caller its place, if there is a recent answer. */
    void arrived(Acquire acquire) {
        long now = clock.now();
        acquire.setQueuedAt(now);
        if (isRecent(now)) {
            long micros = elapsed(now) + offset;
            latest = latest - micros < MAX_STEP ? Math.max(latest, micros) : micros;
            acquire.setArrivedAt(latest);
        }
    }

    /** When a caller arrived, in microseconds since 1970 by the database's clock. To be called after an answer was read. */
    long arrivalOf(Acquire acquire) {
        if (!acquire.isArrivalKnown()) {
            acquire.setArrivedAt(elapsed(acquire.queuedAt()) + firstOffset);
        }
        return acquire.arrivedAt();
    }

    /** A difference, since {@link System#nanoTime} may overflow. */
    private long elapsed(long nanoTime) {
        return TimeUnit.NANOSECONDS.toMicros(nanoTime - origin);
    }

    private boolean isRecent(long now) {
        return read && now - readAt < RECENT;
    }
}
