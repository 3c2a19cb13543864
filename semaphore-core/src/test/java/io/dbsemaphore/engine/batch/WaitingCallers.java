package io.dbsemaphore.engine.batch;

import java.util.Arrays;

/** The threads of this JVM that have queued an acquire and wait for its answer. */
public final class WaitingCallers {

    private WaitingCallers() {}

    public static long count() {
        return Thread.getAllStackTraces().values().stream()
                .filter(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().equals(AnswerWait.class.getName())))
                .count();
    }
}
