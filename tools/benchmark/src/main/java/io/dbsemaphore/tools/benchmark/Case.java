package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.Tables;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/**
 * One line of the result: a scenario and who runs it.
 *
 * @param earlierBuild whether the library is that of the earlier build
 * @param rows how many rows are in the tables before; 0 where the scenario does not vary them
 */
record Case(Scenario scenario, Approach approach, boolean earlierBuild, int rows) implements Serializable {

    private static final int ROUNDS_AT_MOST = 1_000;

    /** The scenario in words. */
    String title() {
        return String.format(Locale.ROOT, scenario.title(), rows);
    }

    /** The approach in words. */
    String label() {
        return approach.label() + (earlierBuild ? ", earlier build" : "");
    }

    /** The same scenario with the same rows, run by this approach in its current or earlier build. */
    Case with(Approach other, boolean otherEarlierBuild) {
        return new Case(scenario, other, otherEarlierBuild, rows);
    }

    /**
     * The prefix of the library's tables. The builds have their own, since their schemas may differ; where rows are varied
     * each number of rows has its own.
     */
    String tablePrefix() {
        String rowsPrefix = scenario.variesRows() ? scenario.id().substring(0, 2) + rows + "_" : "";
        return Tables.PREFIX + (earlierBuild ? "old_" : "") + rowsPrefix;
    }

    /** Enough for the threads and rows, unless the scenario is about waiting. */
    int capacity() {
        return scenario.capacity(scenario.jvms() * scenario.threads()) + rows;
    }

    /** The numbers of its semaphores in this round; other scenarios, and other rounds with new rows, have others. */
    List<Long> semaphores(int round) {
        long first = (long) scenario.ordinal() * ROUNDS_AT_MOST + (hasRowsOfEachRound() ? round : 0);
        return LongStream.range(first, first + scenario.semaphores()).boxed().toList();
    }

    /** Whether each round needs new rows, since they must be newer than a snapshot. */
    boolean hasRowsOfEachRound() {
        return scenario == Scenario.SNAPSHOT;
    }

    /** What one acquire asks for: all of these semaphores, or one at random. */
    List<Long> pick(List<Long> semaphores) {
        return scenario.namesAtOnce() == semaphores.size()
                ? semaphores
                : List.of(semaphores.get(ThreadLocalRandom.current().nextInt(semaphores.size())));
    }
}
