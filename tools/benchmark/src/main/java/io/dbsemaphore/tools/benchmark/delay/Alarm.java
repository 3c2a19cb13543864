package io.dbsemaphore.tools.benchmark.delay;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * Wakes a thread at an instant. A parked thread wakes late, by some 60 µs on Linux: it is parked for that much less, and spins
 * for the rest if it wakes early.
 */
final class Alarm {

    private static final int SAMPLES = 101;
    private static final long SAMPLE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LATE_AT_MOST_NANOS =
            TimeUnit.MICROSECONDS.toNanos(100); // a busy machine must not make it spin

    private final long lateNanos;

    private Alarm(long lateNanos) {
        this.lateNanos = lateNanos;
    }

    /** Measures how late threads of this machine wake. */
    static Alarm calibrate() {
        long[] late = LongStream.range(0, SAMPLES)
                .map(sample -> {
                    long begin = System.nanoTime();
                    LockSupport.parkNanos(SAMPLE_NANOS);
                    return System.nanoTime() - begin - SAMPLE_NANOS;
                })
                .sorted()
                .toArray();
        return new Alarm(Math.max(0, Math.min(late[SAMPLES / 2], LATE_AT_MOST_NANOS)));
    }

    /** @param instant of {@link System#nanoTime} */
    void await(long instant) {
        for (long left = instant - System.nanoTime(); left > 0; left = instant - System.nanoTime()) {
            if (left > lateNanos) {
                LockSupport.parkNanos(left - lateNanos);
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
