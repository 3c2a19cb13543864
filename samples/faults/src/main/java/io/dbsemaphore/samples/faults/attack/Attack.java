package io.dbsemaphore.samples.faults.attack;

import java.time.Duration;
import java.util.Random;

/**
 * Something that strikes again and again.
 *
 * @param name as in the report
 * @param every the mean time between the end of one and the begin of the next
 * @param strike what happens; it ends early when the run does, and leaves nothing disturbed
 */
record Attack(String name, Duration every, Strike strike) {

    /** Happens once. */
    interface Strike {
        void strike(Random random) throws Exception;
    }
}
