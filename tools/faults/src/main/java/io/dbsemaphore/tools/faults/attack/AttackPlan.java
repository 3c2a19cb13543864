package io.dbsemaphore.tools.faults.attack;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Which faults are injected, and how often.
 *
 * @param clients their names
 * @param lasting those of them that are never killed
 * @param threads of each client
 * @param sets of semaphores that they acquire from
 * @param cuts the share of commits whose connection is cut
 * @param pace the times between attacks
 * @param attacks the names of the only ones; empty for all
 * @param instanceTimeout the setting of the library
 * @param clockSteps whether the clocks of clients are stepped
 * @param seed of all that is random
 * @param earlierBuild what comes first on the class path of every second start of a client; empty for nothing
 * @param logs the directory of what clients print
 */
public record AttackPlan(
        List<String> clients,
        Set<String> lasting,
        int threads,
        int sets,
        double cuts,
        Pace pace,
        Set<String> attacks,
        Duration instanceTimeout,
        boolean clockSteps,
        long seed,
        String earlierBuild,
        Path logs) {}
