package io.dbsemaphore.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;

/** Logs failures, such as an {@link OutOfMemoryError}, in loops that must not end, if logging is possible. */
public final class UnexpectedErrors {

    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

    private UnexpectedErrors() {}

    /** Logs the failure and pauses for 10 ms, so that a loop that fails repeatedly does not use up the processor. */
    public static void survive(Logger log, String what, Throwable failure) {
        log(log, what, failure);
        LockSupport.parkNanos(PAUSE);
    }

    /** Logs the failure. Never throws: there may be no memory or stack left. */
    public static void log(Logger log, String what, Throwable failure) {
        try {
            log.error("{} failed unexpectedly; the thread continues", what, failure);
        } catch (Throwable ignored) {
            // nothing else can be done
        }
    }
}
