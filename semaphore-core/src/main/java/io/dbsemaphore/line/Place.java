package io.dbsemaphore.line;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;

/**
 * The place of a waiting caller in the order of all instances' callers: the smaller one is served first.
 *
 * @param startTag compared first; always 0, so that the time decides. For another order it would be set, and {@code WaiterTable} would have
 *     to store it, which stores only times, as differences that are not negative
 * @param firstRefusedAt when the caller came or, if that is not known, when the database first refused it, in microseconds since 1970 by
 *     the database's clock
 */
public record Place(long startTag, long firstRefusedAt) implements Comparable<Place> {

    /** The place of a caller that does not wait yet, behind all that do. */
    public static final Place NONE = new Place(Long.MAX_VALUE, Long.MAX_VALUE);

    private static final Comparator<Place> ORDER =
            Comparator.comparingLong(Place::startTag).thenComparingLong(Place::firstRefusedAt);

    private static final LocalDateTime EPOCH = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC);

    /** The place of a caller that came, or was first refused, at this time. */
    public static Place at(long firstRefusedAt) {
        return new Place(0, firstRefusedAt);
    }

    /** Converts a timestamp of the database. */
    public static long micros(LocalDateTime utc) {
        return EPOCH.until(utc, ChronoUnit.MICROS);
    }

    /** Converts microseconds since 1970. */
    public static LocalDateTime utc(long micros) {
        return EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    public boolean isBefore(Place other) {
        return compareTo(other) < 0;
    }

    @Override
    public int compareTo(Place other) {
        return ORDER.compare(this, other);
    }
}
