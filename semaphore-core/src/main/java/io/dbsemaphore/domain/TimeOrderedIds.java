package io.dbsemaphore.domain;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Primary keys that are assigned in the JVM: 41 bits of milliseconds, then 22 bits that begin at random in each
 * millisecond. New rows go to the end of the table, and inserts need no round trip for a key. Two JVMs may rarely come
 * upon the same one; the primary key refuses the second, and that transaction is tried again with others.
 *
 * <p>After Twitter's Snowflake, without the assignment of node numbers.
 */
public final class TimeOrderedIds {

    private static final long EPOCH = Instant.parse("2025-01-01T00:00:00Z").toEpochMilli();
    private static final int RANDOM_BITS = 22;

    private final AtomicLong last = new AtomicLong();

    /** The next id; higher than all this object gave before, even if the JVM's clock goes back. */
    public long next() {
        long candidate = (System.currentTimeMillis() - EPOCH) << RANDOM_BITS
                | ThreadLocalRandom.current().nextLong(1L << RANDOM_BITS);
        return last.updateAndGet(previous -> Math.max(previous + 1, candidate));
    }

    /**
     * A key above which no row is as old as the given age, with a day to spare for clocks of JVMs that differ from the
     * database's.
     */
    public static long upperBound(LocalDateTime now, Duration age) {
        long millis = now.minus(age).plusDays(1).toInstant(ZoneOffset.UTC).toEpochMilli();
        return Math.max(0, millis - EPOCH + 1) << RANDOM_BITS;
    }
}
