package io.dbsemaphore.domain;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * A caller that waits for permits of a semaphore, as the instances tell one another.
 *
 * @param since when the database first refused it: microseconds since 1970 by the database's clock; the order of the queue
 * @param permits the number of permits that it waits for; 0 if exclusive
 * @param exclusive whether it waits for the whole capacity
 * @param ofSeveral whether it waits for several semaphores
 */
public record Waiter(long since, int permits, boolean exclusive, boolean ofSeveral) {

    private static final LocalDateTime EPOCH = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC);

    /** Two callers of the whole capacity are alike, whatever the capacity is. */
    public Waiter {
        permits = exclusive ? 0 : permits;
    }

    /** Converts a timestamp of the database. */
    public static long micros(LocalDateTime utc) {
        return EPOCH.until(utc, ChronoUnit.MICROS);
    }

    public LocalDateTime sinceUtc() {
        return EPOCH.plus(since, ChronoUnit.MICROS);
    }

    /** The number of permits that it waits for; none if they are more than the capacity. */
    Demand demand(int capacity) {
        int count = exclusive ? capacity : permits;
        return count > capacity ? Demand.NONE : new Demand(count, ofSeveral ? count : 0);
    }
}
