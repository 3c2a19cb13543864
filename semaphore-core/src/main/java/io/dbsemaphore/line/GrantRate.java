package io.dbsemaphore.line;

import java.time.Duration;
import java.util.Optional;

/** How often permits of a semaphore are granted, by its fence, which each grant raises by one unless permits are reused. */
public final class GrantRate {

    /** After this time and {@link #ENOUGH} grants a new count begins. The one before is used until the new one has enough. */
    private static final long WINDOW = Duration.ofSeconds(10).toNanos();

    private static final int ENOUGH = 3;

    /** More grants than between two answers of a database: the fence is that of another semaphore of the same name. */
    private static final int TOO_MANY = 1_000_000;

    private long fence = -1;
    private long begunAt;
    private long grants;
    private long nanosPerGrant;

    /**
     * Records the fence.
     *
     * @param read the fence, by an answer of the database
     * @param now this JVM's monotonic clock
     */
    public void read(long read, long now) {
        long more = read - fence;
        if (fence < 0
                || more < 0
                || more > TOO_MANY) { // the first time, or after a failover to a server that lacks grants
            nanosPerGrant = 0;
            begin(read, now);
            return;
        }
        fence = read;
        grants += more;
        if (grants >= ENOUGH) {
            nanosPerGrant = Math.max(1, (now - begunAt) / grants);
            if (now - begunAt > WINDOW) {
                begin(read, now);
            }
        }
    }

    private void begin(long read, long now) {
        fence = read;
        begunAt = now;
        grants = 0;
    }

    /**
     * Returns how long this number of grants takes at the rate of the last ten seconds, or at a lower one if the next grant is late; empty if
     * too few were counted.
     *
     * @param now this JVM's monotonic clock
     */
    public Optional<Duration> timeOf(long count, long now) {
        return nanosPerGrant == 0
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(Math.max(nanosPerGrant, (now - begunAt) / (grants + 1)))
                        .multipliedBy(count));
    }
}
