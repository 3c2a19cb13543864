package io.dbsemaphore.line;

import java.util.concurrent.TimeUnit;

/**
 * Makes the places of callers; nothing else does. The transaction that refuses a caller and the queue of its instance call this with the
 * same values, so that other instances learn the place that the caller has.
 *
 * @param now the database's clock in the transaction that refuses a caller, in microseconds since 1970
 * @param answeredAt this JVM's monotonic clock when the database had answered with that time
 */
public record Places(long now, long answeredAt) {

    /**
     * The place of a caller that is refused: its arrival, less its head start. If the clocks had not been compared when it came, the
     * arrival is computed from its age. The place is never later than the refusal, even if the clock of another server is behind.
     *
     * @param headStart in microseconds
     */
    public Place of(Arrival arrival, long headStart) {
        long micros = arrival.isKnown()
                ? Math.min(arrival.micros(), now)
                : now - TimeUnit.NANOSECONDS.toMicros(answeredAt - arrival.nanoTime());
        return at(micros - headStart);
    }

    /** The place of a caller whose acquire has not been decided yet. */
    public static Place ofNewcomer(Arrival arrival, long headStart) {
        return at(arrival.micros() - headStart);
    }

    /** The place of a caller in an order that is not that of the arrivals. */
    static Place ranked(long rank, Place place) {
        return new Place(rank, place.at());
    }

    /** The place at this time, in microseconds since 1970, as reported by another instance. */
    public static Place at(long micros) {
        return new Place(0, micros);
    }
}
