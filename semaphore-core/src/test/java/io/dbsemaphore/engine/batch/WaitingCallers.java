package io.dbsemaphore.engine.batch;

import java.util.Arrays;
import java.util.Collection;

/** The threads of this JVM that have queued an acquire and wait for its answer. */
public final class WaitingCallers {

    private WaitingCallers() {}

    public static long count() {
        return Thread.getAllStackTraces().values().stream()
                .filter(WaitingCallers::isWaiting)
                .count();
    }

    public static long count(Collection<Thread> threads) {
        return threads.stream()
                .filter(thread -> isWaiting(thread.getStackTrace()))
                .count();
    }

    private static boolean isWaiting(StackTraceElement[] stack) {
        return Arrays.stream(stack)
                .anyMatch(frame -> frame.getClassName().equals("io.dbsemaphore.engine.AcquireService")
                        && frame.getMethodName().equals("next"));
    }
}
