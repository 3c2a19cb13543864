package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** All rounds of one contestant on one workload. */
public record Result(Workload workload, Approach approach, List<Measurement> rounds) {

    /** The median of the rounds. */
    public double pairsPerSecond() {
        double[] sorted = rounds.stream()
                .mapToDouble(Measurement::pairsPerSecond)
                .sorted()
                .toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** How long acquires took, over all rounds. */
    public Percentiles acquire() {
        return Samples.merge(rounds.stream().map(Measurement::acquires).toList())
                .percentiles();
    }

    /** The most connections that were in use at the same time; in all JVMs together. */
    public int connections() {
        return rounds.stream().mapToInt(Measurement::connections).max().orElseThrow();
    }

    /** Acquires and releases that threw. */
    public long failures() {
        return rounds.stream().mapToLong(Measurement::failures).sum();
    }

    /** The first of them. */
    public Optional<String> failure() {
        return rounds.stream()
                .map(Measurement::failure)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .findFirst();
    }
}
