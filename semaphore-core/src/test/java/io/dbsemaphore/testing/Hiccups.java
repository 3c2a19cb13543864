package io.dbsemaphore.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures for how long no thread of this JVM ran, as when the garbage collector stops them or other processes have the processors:
 * by how much a thread that does nothing sleeps too long (<a href="https://github.com/giltene/jHiccup">jHiccup</a>).
 */
public final class Hiccups implements AutoCloseable {

    private static final long SLEEP = Duration.ofMillis(2).toNanos();

    private final Thread thread = new Thread(this::measure, "hiccups");
    private volatile long worst;
    private volatile boolean closed;

    private Hiccups() {}

    /** Starts to measure, until closed. */
    public static Hiccups measured() {
        Hiccups hiccups = new Hiccups();
        hiccups.thread.setDaemon(true);
        hiccups.thread.start();
        return hiccups;
    }

    private void measure() {
        while (!closed) {
            long begun = System.nanoTime();
            LockSupport.parkNanos(SLEEP);
            worst = Math.max(worst, System.nanoTime() - begun - SLEEP);
        }
    }

    /** The longest so far. */
    public Duration worst() {
        return Duration.ofNanos(worst);
    }

    @Override
    public void close() {
        closed = true;
    }
}
