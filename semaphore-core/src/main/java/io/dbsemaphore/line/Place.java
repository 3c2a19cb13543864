package io.dbsemaphore.line;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * The place of a caller in the order of all instances' callers: the smaller place is served first. Only {@link Places} makes places.
 *
 * @param startTag compared first; 0, so that the time decides, except in a {@link ShareOrder}. Sorted sets rely on places that do not change
 *     while a caller waits
 * @param at when the caller came, less its head start, in microseconds since 1970 by the database's clock
 */
public record Place(long startTag, long at) implements Comparable<Place> {

    /** Behind all callers that wait. */
    public static final Place LAST = new Place(Long.MAX_VALUE, Long.MAX_VALUE);

    private static final LocalDateTime EPOCH = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC);

    /** Converts a timestamp of the database. */
    public static long micros(LocalDateTime utc) {
        return EPOCH.until(utc, ChronoUnit.MICROS);
    }

    /** Converts microseconds since 1970. */
    public static LocalDateTime utc(long micros) {
        return EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    @Override
    public int compareTo(Place other) {
        int byTag = Long.compare(startTag, other.startTag);
        return byTag != 0 ? byTag : Long.compare(at, other.at);
    }
}
