package io.dbsemaphore.engine;

import java.time.Duration;

/** Lets time pass for the maintenance of an engine, which then completed its tasks that much earlier. */
public final class MaintenanceClock {

    private MaintenanceClock() {}

    /** Puts the clock forward, for the current run. */
    public static void advance(SemaphoreEngine engine, Duration time) {
        engine.current().maintenance.doneAt.replaceAll((task, doneAt) -> doneAt - time.toNanos());
    }
}
