package io.dbsemaphore.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;

/**
 * What a loop that must not end does about a failure that nothing else has caught, such as an {@link OutOfMemoryError}:
 * logs it, if that is possible, and goes on.
 */
public final class UnexpectedErrors {

    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

    private UnexpectedErrors() {}

    /** Logs the failure, and pauses for a moment, so that a loop that fails each time leaves the processor to others. */
    public static void survive(Logger log, String what, Throwable failure) {
        log(log, what, failure);
        LockSupport.parkNanos(PAUSE);
    }

    /** Logs the failure. Never throws: what failed may well be short of memory, or of stack. */
    public static void log(Logger log, String what, Throwable failure) {
        try {
            log.error("{} failed in a way that is not foreseen; it goes on", what, failure);
        } catch (Throwable notEvenThat) {
            // there is nobody left to tell
        }
    }
}
