package io.dbsemaphore.tools.benchmark;

import java.io.Serializable;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One round of one case.
 *
 * @param length how long the round was
 * @param pairs acquires with their releases that were done when the round ended
 * @param acquireNanos how long each acquire took, also of pairs that ended too late to count
 * @param connections the most connections that were seen in use at the same time
 * @param failures acquires and releases that threw
 * @param failure the first of them
 * @param clientCpuNanos the CPU time of the measuring JVMs
 * @param server what the server did meanwhile
 */
record Measurement(
        Duration length,
        long pairs,
        long[] acquireNanos,
        int connections,
        long failures,
        @Nullable String failure,
        long clientCpuNanos,
        ServerWork server)
        implements Serializable {

    double pairsPerSecond() {
        return pairs * 1e9 / length.toNanos();
    }

    /** The time that this percentage of the acquires did not exceed, in milliseconds; NaN where there are none. */
    double acquireMillis(int percentage) {
        long[] sorted = acquireNanos.clone();
        Arrays.sort(sorted);
        return sorted.length == 0
                ? Double.NaN
                : sorted[(int) Math.ceil(sorted.length * (percentage / 100.0)) - 1] / 1e6;
    }

    /** The CPU time of the measuring JVMs for each pair, in microseconds; NaN where there are no pairs. */
    double clientCpuMicros() {
        return perPair(clientCpuNanos / 1e3);
    }

    /** The CPU time of the server for each pair, in microseconds; NaN where that is unknown. */
    double serverCpuMicros() {
        return perPair(server.cpuNanos() / 1e3);
    }

    /** How many acquires one commit of the server has granted or released; NaN where that is unknown. */
    double grantsPerCommit() {
        return server.commits() == 0 ? Double.NaN : (double) pairs / server.commits();
    }

    /** The round trips for each pair; NaN where nothing counts them. */
    double tripsPerPair() {
        return perPair(server.trips());
    }

    private double perPair(double sum) {
        return sum == 0 || pairs == 0 ? Double.NaN : sum / pairs;
    }

    /** This round, in which the server did that. */
    Measurement with(ServerWork work) {
        return new Measurement(length, pairs, acquireNanos, connections, failures, failure, clientCpuNanos, work);
    }

    /** Those of threads or JVMs that ran at the same time, as one. */
    static Measurement sum(Collection<Measurement> parts) {
        Measurement any = parts.iterator().next();
        return new Measurement(
                any.length,
                parts.stream().mapToLong(Measurement::pairs).sum(),
                parts.stream()
                        .flatMapToLong(part -> LongStream.of(part.acquireNanos))
                        .toArray(),
                parts.stream().mapToInt(Measurement::connections).sum(),
                parts.stream().mapToLong(Measurement::failures).sum(),
                parts.stream()
                        .map(Measurement::failure)
                        .filter(failure -> failure != null)
                        .findFirst()
                        .orElse(null),
                parts.stream().mapToLong(Measurement::clientCpuNanos).sum(),
                any.server);
    }
}
