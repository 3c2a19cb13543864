package io.dbsemaphore.tools.faults.attack;

import java.time.Duration;
import java.util.Random;

/**
 * A fault that is injected again and again.
 *
 * @param name as in the report
 * @param every the mean time between the end of one and the begin of the next
 * @param action injects it; it ends early when the run does, and leaves nothing disturbed
 */
record Attack(String name, Duration every, Action action) {

    /** Happens once. */
    interface Action {
        void run(Random random) throws Exception;
    }
}
