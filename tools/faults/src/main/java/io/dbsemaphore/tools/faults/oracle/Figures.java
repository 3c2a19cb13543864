package io.dbsemaphore.tools.faults.oracle;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What the oracle has counted and measured.
 *
 * @param events by kind
 * @param faults attacks by name
 * @param failures acquires that threw neither a refusal nor an unknown outcome, by exception
 * @param reused grants of reused permits
 * @param repeated grants that repeated an earlier one with the same external id
 * @param written writes under {@code requireHeld}
 * @param refusedWrites writes that it refused
 * @param longestOutage the longest time without any grant
 * @param afterReady from a server that answers again to what is named, for each restart
 * @param recovered permits of killed clients that their successors were granted
 * @param undisturbed those of them between whose kill and grant nothing else was disturbed
 * @param longestRecovery the longest of these
 * @param overstatedReleases releases told as done although another had been granted the permit before
 * @param sharedWaits waits of callers with a share that were judged
 * @param mostOvertaken the most grants that another key or tenant had in one of them more than the caller's own
 * @param growth what those clients used that lived longest: first, and later
 */
public record Figures(
        Map<Event.Kind, Long> events,
        Map<String, Long> faults,
        Map<String, Long> failures,
        long reused,
        long repeated,
        long written,
        long refusedWrites,
        Duration longestOutage,
        Map<String, List<Duration>> afterReady,
        long recovered,
        long undisturbed,
        Duration longestRecovery,
        long overstatedReleases,
        long sharedWaits,
        long mostOvertaken,
        Map<String, String> growth) {

    /** How many events of this kind there were. */
    public long count(Event.Kind kind) {
        return events.getOrDefault(kind, 0L);
    }
}
