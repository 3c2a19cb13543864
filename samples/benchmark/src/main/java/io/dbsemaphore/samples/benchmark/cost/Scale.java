package io.dbsemaphore.samples.benchmark.cost;

import java.util.List;

/**
 * How full the tables get.
 *
 * @param held permits held, ascending
 * @param released released requests, ascending; the first is 0
 * @param releasedUnderSnapshot releases while a snapshot is open
 */
public record Scale(List<Integer> held, List<Integer> released, int releasedUnderSnapshot) {

    /** What the bars speak of. */
    public static final Scale FULL = new Scale(List.of(10, 1_000, 10_000), List.of(0, 100_000, 1_000_000), 100_000);

    /** What can be made in seconds. */
    public static final Scale QUICK = new Scale(List.of(10, 1_000), List.of(0, 100_000), 100_000);
}
