package io.dbsemaphore.tools.benchmark;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** All rounds of one case. */
record Result(Case measured, List<Measurement> rounds) {

    /** The median of the rounds. */
    double pairsPerSecond() {
        return median(Measurement::pairsPerSecond);
    }

    /** The median of the rounds' percentiles, in milliseconds. */
    double acquireMillis(int percentage) {
        return median(round -> round.acquireMillis(percentage));
    }

    /** The most connections that were in use at the same time, in all JVMs together. */
    int connections() {
        return rounds.stream().mapToInt(Measurement::connections).max().orElseThrow();
    }

    /** How many times the pairs per second of another result, round by round. */
    Ratio ratioTo(Result other) {
        double[] ratios = IntStream.range(0, rounds.size())
                .mapToDouble(round -> rounds.get(round).pairsPerSecond()
                        / other.rounds.get(round).pairsPerSecond())
                .sorted()
                .toArray();
        return new Ratio(middle(ratios), ratios[0], ratios[ratios.length - 1]);
    }

    /** The median of a figure of the rounds. */
    double median(ToDoubleFunction<Measurement> figure) {
        return middle(rounds.stream().mapToDouble(figure).sorted().toArray());
    }

    private static double middle(double[] sorted) {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** The median of the rounds' ratios, the lowest and the highest. */
    record Ratio(double median, double lowest, double highest) {}
}
