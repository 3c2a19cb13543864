package io.dbsemaphore.line;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Tells when callers of this JVM have arrived, by the database's clock. Within this JVM the arrivals never decrease, so that callers are
 * served in the order in which they came, whatever batch they are in.
 *
 * <p>Each answer of the database bounds the offset between its clock and this JVM's monotonic clock: the database read its clock after the
 * question was sent and before the answer arrived (Cristian, <a href="https://doi.org/10.1007/BF01784024">Probabilistic Clock
 * Synchronization</a>, 1989). While there is no recent answer, an arrival is not known. The offset of the next answer {@linkplain #resolve
 * resolves} it; the {@linkplain Places transaction that got that answer} uses the same offset.
 *
 * <p>Times of the JVM are those of {@link System#nanoTime}. Not thread-safe.
 */
public final class ArrivalClock {

    /** How long an offset is used: clocks drift by some microseconds in a second. */
    private static final long RECENT = Duration.ofSeconds(10).toNanos();

    /** If the database's clock is set back by more than this, the arrivals follow it. */
    private static final long MAX_STEP = TimeUnit.SECONDS.toMicros(1);

    private final long origin;
    private boolean read;
    private long offset;
    /** The offset from the first answer after a time without answers. */
    private long firstOffset;

    private long readAt;
    private long latest = Long.MIN_VALUE;

    /**
     * Creates a clock without an answer.
     *
     * @param now the time of the JVM from which all others are counted
     */
    public ArrivalClock(long now) {
        origin = now;
    }

    /**
     * Records an answer of the database.
     *
     * @param micros the database's clock when it answered, in microseconds since 1970
     * @param askedAt when the database was asked
     * @param answeredAt when the answer arrived
     * @return whether unresolved arrivals can now be resolved
     */
    public boolean read(long micros, long askedAt, long answeredAt) {
        long atLeast = micros - elapsed(answeredAt);
        boolean first = !isRecent(answeredAt);
        if (first) {
            offset = atLeast;
            firstOffset = atLeast;
        } else {
            offset = Math.min(Math.max(offset, atLeast), micros - elapsed(askedAt));
        }
        readAt = answeredAt;
        read = true;
        return first;
    }

    /** The arrival of a caller that comes now. */
    public Arrival arrive(long now) {
        long micros = elapsed(now) + offset;
        if (!isRecent(now)) {
            return new Arrival(now, micros, false);
        }
        latest = latest - micros < MAX_STEP ? Math.max(latest, micros) : micros;
        return new Arrival(now, latest, true);
    }

    /** Returns the arrival as known now. If the database's clock was set back, the caller is not left behind those that come now. */
    public Arrival resolve(Arrival arrival, long now) {
        if (!isRecent(now)) {
            return arrival;
        }
        long micros = arrival.isKnown() ? arrival.micros() : elapsed(arrival.nanoTime()) + firstOffset;
        long latestPossible = elapsed(now) + offset;
        return new Arrival(arrival.nanoTime(), micros - latestPossible > MAX_STEP ? latestPossible : micros, true);
    }

    /** A difference, because {@link System#nanoTime} may overflow. */
    private long elapsed(long nanoTime) {
        return TimeUnit.NANOSECONDS.toMicros(nanoTime - origin);
    }

    private boolean isRecent(long now) {
        return read && now - readAt < RECENT;
    }
}
