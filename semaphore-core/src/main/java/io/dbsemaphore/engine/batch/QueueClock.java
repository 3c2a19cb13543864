package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.Deadline;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/**
 * The only source of time and randomness of a {@link WorkQueue}: a test that supplies both can repeat a schedule exactly.
 *
 * @param nanoTime a monotonic clock, such as {@link System#nanoTime}
 * @param random returns a random number from 0 (inclusive) to its argument (exclusive)
 */
record QueueClock(LongSupplier nanoTime, LongUnaryOperator random) {

    static final QueueClock SYSTEM = new QueueClock(
            System::nanoTime, bound -> ThreadLocalRandom.current().nextLong(bound));

    long now() {
        return nanoTime.getAsLong();
    }

    long random(long bound) {
        return random.applyAsLong(bound);
    }

    Deadline in(Duration duration) {
        return Deadline.after(now(), duration);
    }

    boolean isPassed(Deadline deadline) {
        return remainingNanos(deadline) <= 0;
    }

    /** The remaining time; 0 or less once it has passed. */
    long remainingNanos(Deadline deadline) {
        return deadline.remainingNanos(now());
    }
}
