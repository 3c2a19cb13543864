package io.dbsemaphore.line;

import java.time.Duration;
import java.util.Optional;

/**
 * How often permits of a semaphore are granted, by its fence, which each grant raises by one unless permits are reused. It counts the grants
 * of the last ten to twenty seconds.
 *
 * <p>{@code GrantRateTests} tests it, and how far the estimate is off.
 */
public final class GrantRate {

    /** After this time and {@link #ENOUGH} grants a new count begins. The one before it counts, too, until the next one begins. */
    private static final long WINDOW = Duration.ofSeconds(10).toNanos();

    private static final int ENOUGH = 3;

    /** More grants than between two answers of a database: the fence is that of another semaphore of the same name. */
    private static final int TOO_MANY = 1_000_000;

    private long fence = -1;
    private long begunAt;
    private long readAt;
    private long grants;
    private long grantsBefore;
    private long nanosBefore;

    /**
     * Records the fence.
     *
     * @param read the fence, by an answer of the database
     * @param now this JVM's monotonic clock
     */
    public void read(long read, long now) {
        long more = read - fence;
        readAt = now;
        if (fence < 0
                || more < 0
                || more > TOO_MANY) { // the first time, or after a failover to a server that lacks grants
            grants = 0;
            begin(read, 0);
            return;
        }
        fence = read;
        grants += more;
        if (grants >= ENOUGH && now - begunAt > WINDOW) {
            begin(read, now - begunAt);
        }
    }

    private void begin(long read, long nanos) {
        fence = read;
        begunAt = readAt;
        grantsBefore = grants;
        nanosBefore = nanos;
        grants = 0;
    }

    /**
     * Returns how long this number of grants takes at the present rate, or at a lower one if the next grant is late; empty if too few were
     * counted.
     *
     * @param now this JVM's monotonic clock
     */
    public Optional<Duration> timeOf(long count, long now) {
        long all = grantsBefore + grants;
        if (all < ENOUGH) {
            return Optional.empty();
        }
        long nanosPerGrant = Math.max(1, (nanosBefore + readAt - begunAt) / all);
        long ifLate = now - begunAt > WINDOW // so that a long stall is seen, however often permits were granted before
                ? (now - begunAt) / (grants + 1)
                : (nanosBefore + now - begunAt) / (all + 1);
        return Optional.of(Duration.ofNanos(Math.max(nanosPerGrant, ifLate)).multipliedBy(count));
    }
}
