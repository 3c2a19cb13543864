package io.dbsemaphore.concurrent;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * The pauses between attempts: longer after each attempt, up to a maximum. The jitter keeps attempts that failed together from being
 * repeated together.
 *
 * @param first the pause after the first attempt
 * @param factor the factor between two pauses
 * @param max the longest pause, before the jitter
 * @param jitter by which fraction a pause may be longer or shorter; 0 for none, 1 for full jitter
 */
public record BackOff(Duration first, double factor, Duration max, double jitter) {

    /** The pauses between the attempts of a failed transaction. */
    public static final BackOff RETRIES = new BackOff(Duration.ofMillis(20), 2, Duration.ofMillis(500), 0.5);

    /** The pauses between polls for permits that other instances release: short at first, because most are held briefly. */
    public static final BackOff POLLING = new BackOff(Duration.ofMillis(15), 1.4, Duration.ofMillis(400), 0.2);

    public Duration after(int attempts) {
        return after(attempts, bound -> ThreadLocalRandom.current().nextLong(bound));
    }

    /**
     * The pause after this number of attempts.
     *
     * @param random returns a random number from 0 (inclusive) to its argument (exclusive)
     */
    public Duration after(int attempts, LongUnaryOperator random) {
        double exact = Math.min((double) max.toNanos(), first.toNanos() * Math.pow(factor, attempts - 1));
        long spread = Math.round(exact * jitter);
        long nanos = Math.round(exact) - spread;
        return Duration.ofNanos(spread == 0 ? nanos : nanos + random.applyAsLong(2 * spread));
    }
}
