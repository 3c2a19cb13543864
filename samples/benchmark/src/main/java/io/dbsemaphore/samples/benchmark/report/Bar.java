package io.dbsemaphore.samples.benchmark.report;

import java.util.Locale;
import java.util.Optional;

/**
 * What the library must reach.
 *
 * @param workload on what
 * @param against compared with what
 * @param bound how the figure must compare with the limit
 * @param limit the limit
 * @param unit what follows the figure
 * @param figure what was reached; empty when that was not measured
 */
record Bar(String workload, String against, Bound bound, double limit, String unit, Optional<Double> figure) {

    /** The bar in words. */
    String demand() {
        return bound.words + number(limit) + unit;
    }

    /** The figure in words. */
    String reading() {
        return figure.map(value -> number(value) + unit).orElse("not measured");
    }

    /** Whether it is reached; empty when it was not measured. */
    Optional<Boolean> reached() {
        return figure.map(value -> switch (bound) {
            case AT_LEAST -> value >= limit;
            case AT_MOST -> value <= limit;
            case BELOW -> value < limit;
        });
    }

    private static String number(double value) {
        String text = String.format(Locale.ROOT, Math.abs(value) < 0.1 ? "%.3f" : "%.2f", value);
        return text.replaceFirst("\\.?0+$", "");
    }

    enum Bound {
        AT_LEAST("at least "),
        AT_MOST("at most "),
        BELOW("below ");

        private final String words;

        Bound(String words) {
            this.words = words;
        }
    }
}
