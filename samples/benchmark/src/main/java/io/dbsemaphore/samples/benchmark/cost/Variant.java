package io.dbsemaphore.samples.benchmark.cost;

import io.dbsemaphore.samples.benchmark.contestant.Held;
import io.dbsemaphore.samples.benchmark.contestant.LibraryContestant;
import io.dbsemaphore.samples.benchmark.throughput.Samples;
import java.util.ArrayList;
import java.util.List;

/** A semaphore to measure, and how long its acquires took. */
final class Variant {

    private final LibraryContestant library;
    private final long semaphore;
    private final List<Samples> rounds = new ArrayList<>();

    Variant(LibraryContestant library, long semaphore) {
        this.library = library;
        this.semaphore = semaphore;
    }

    void beginRound() {
        rounds.add(new Samples());
    }

    void pair() throws Exception {
        long start = System.nanoTime();
        Held held = library.acquire(List.of(semaphore));
        rounds.get(rounds.size() - 1).add(System.nanoTime() - start);
        held.release();
    }

    /** As if nothing had been measured. */
    void forget() {
        rounds.clear();
    }

    /** Takes over what another one has measured. */
    void add(Variant other) {
        rounds.addAll(other.rounds);
    }

    CostResult result(Cost.Kind kind, long size, String name) {
        double[] medians = rounds.stream()
                .mapToDouble(round -> round.percentiles().p50())
                .sorted()
                .toArray();
        return new CostResult(
                kind,
                size,
                name,
                medians[medians.length / 2],
                Samples.merge(rounds).percentiles());
    }
}
