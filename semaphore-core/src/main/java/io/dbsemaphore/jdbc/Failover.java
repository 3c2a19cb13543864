package io.dbsemaphore.jdbc;

import java.time.Duration;

/**
 * Whether the pool may still have sessions of a server that was the primary and is read-only now. After a session was found
 * read-only, every session is asked for some seconds before it is used, and those that are read-only, too, are given up, so
 * that the pool connects anew. How many is bounded: where the database is read-only as a whole, a new session is no better.
 */
final class Failover {

    private static final long SUSPECTED = Duration.ofSeconds(10).toNanos();
    private static final int MOST_GIVEN_UP = 100;

    private boolean suspected;
    private long until;
    private int givenUp;

    /** A session was found read-only. */
    synchronized void suspect() {
        long now = System.nanoTime();
        if (!suspected || now - until > 0) {
            suspected = true;
            until = now + SUSPECTED;
            givenUp = 0;
        }
    }

    /** Whether sessions are to be asked, and those that are read-only given up. */
    synchronized boolean isSuspected() {
        if (suspected && System.nanoTime() - until > 0) {
            suspected = false;
        }
        return suspected && givenUp < MOST_GIVEN_UP;
    }

    /** A session that was asked was read-only. */
    synchronized void giveUp() {
        givenUp++;
    }
}
