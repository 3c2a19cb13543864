package io.dbsemaphore.persistence.unit;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Primary keys that are assigned in the JVM: 41 bits of milliseconds, then 22 bits that start at a random value in each
 * millisecond. New rows are appended to the primary key's index, and an insert needs no round trip to obtain a key. In the
 * rare case that two JVMs generate the same id, the second insert violates the primary key, and its transaction is repeated
 * with new ids. The copy of a running JVM draws other random values.
 *
 * <p>While the JVM's clock is before 2025, the ids are consecutive numbers from a random one on, within 41 bits, so that those of two JVMs
 * differ. They are lower than all ids of a correct clock.
 *
 * <p>Based on Twitter's <a href="https://github.com/twitter-archive/snowflake/tree/snowflake-2010">Snowflake</a>, without the assignment of
 * node numbers.
 */
public final class TimeOrderedIds {

    private static final long EPOCH = Instant.parse("2025-01-01T00:00:00Z").toEpochMilli();
    private static final int RANDOM_BITS = 22;
    private static final int FIRST_ID_BITS = 41;

    private final LongSupplier clock;
    private final SecureRandom random = new SecureRandom();
    private final AtomicLong last = new AtomicLong(random.nextLong(1L << FIRST_ID_BITS));

    /**
     * Creates a generator of ids.
     *
     * @param clock the milliseconds since 1970
     */
    public TimeOrderedIds(LongSupplier clock) {
        this.clock = clock;
    }

    /** Returns the next id, higher than all previous ids of this object, even if the JVM's clock goes back. */
    public long next() {
        long first = (clock.getAsLong() - EPOCH) << RANDOM_BITS;
        long candidate = first > last.get() ? first | random.nextLong(1L << RANDOM_BITS) : first;
        return last.updateAndGet(previous -> Math.max(previous + 1, candidate));
    }

    /** Returns an id above which no row has reached the given age, unless a JVM's clock was ahead of the database's. */
    public static long upperBound(LocalDateTime now, Duration age) {
        long millis = now.minus(age).toInstant(ZoneOffset.UTC).toEpochMilli();
        return Math.max(0, millis - EPOCH + 1) << RANDOM_BITS;
    }
}
