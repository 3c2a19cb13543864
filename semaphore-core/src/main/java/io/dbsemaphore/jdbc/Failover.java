package io.dbsemaphore.jdbc;

import java.time.Duration;

/**
 * Records whether the pool may still have sessions of a former primary that is now read-only. After a read-only session
 * was found, each session is checked before use for some seconds, and read-only ones are evicted, so that the pool
 * opens new ones. The number of evictions is bounded: if the whole database is read-only, new sessions do not help.
 */
final class Failover {

    private static final long SUSPECTED = Duration.ofSeconds(10).toNanos();
    private static final int MAX_EVICTIONS = 100;

    private boolean suspected;
    private long until;
    private int evictions;

    /** Reports that a session was found to be read-only. */
    synchronized void suspect() {
        long now = System.nanoTime();
        if (!suspected || now - until > 0) {
            suspected = true;
            until = now + SUSPECTED;
            evictions = 0;
        }
    }

    /** Whether sessions are to be checked, and read-only ones evicted. */
    synchronized boolean isSuspected() {
        if (suspected && System.nanoTime() - until > 0) {
            suspected = false;
        }
        return suspected && evictions < MAX_EVICTIONS;
    }

    /** Reports that a read-only session was evicted. */
    synchronized void evicted() {
        evictions++;
    }
}
