package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.Tables;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * One line of the result: a scenario and who runs it.
 *
 * @param earlierBuild whether the library is that of the earlier build
 * @param rows how many rows are in the tables before; 0 where the scenario does not vary them
 * @param delay how far away the server is: what a round trip takes longer
 */
record Case(Scenario scenario, Approach approach, boolean earlierBuild, int rows, Duration delay)
        implements Serializable {

    private static final int ROUNDS_AT_MOST = 1_000;
    private static final long SEMAPHORES_OF_A_DELAY = 1_000_000;

    /** The scenario in words. */
    String title() {
        String away = delay.isZero()
                ? ""
                : ", %s ms away"
                        .formatted(BigDecimal.valueOf(delay.toNanos(), 6)
                                .stripTrailingZeros()
                                .toPlainString());
        return String.format(Locale.ROOT, scenario.title(), rows) + away;
    }

    /** The approach in words. */
    String label() {
        return approach.label() + (earlierBuild ? ", earlier build" : "");
    }

    /** The same scenario with the same rows and delay, run by this approach in its current or earlier build. */
    Case with(Approach other, boolean otherEarlierBuild) {
        return new Case(scenario, other, otherEarlierBuild, rows, delay);
    }

    /**
     * The prefix of the library's tables. The builds have their own, since their schemas may differ, and so have its plain
     * statements; where rows are varied each number of rows has its own.
     */
    String tablePrefix() {
        String rowsPrefix = scenario.variesRows() ? scenario.id().substring(0, 2) + rows + "_" : "";
        String delayPrefix = scenario.variesRows() && !delay.isZero() ? micros() + "_" : "";
        String owner = approach == Approach.PLAIN_STATEMENTS ? "plain_" : earlierBuild ? "old_" : "";
        return Tables.PREFIX + owner + rowsPrefix + delayPrefix;
    }

    private long micros() {
        return TimeUnit.NANOSECONDS.toMicros(delay.toNanos());
    }

    /** Enough for the threads and rows, unless the scenario is about waiting. */
    int capacity() {
        return scenario.capacity(scenario.jvms() * scenario.threads()) + rows;
    }

    /** The numbers of its semaphores in this round; other scenarios and delays, and other rounds with new rows, have others. */
    List<Long> semaphores(int round) {
        long first = micros() * SEMAPHORES_OF_A_DELAY
                + (long) scenario.ordinal() * ROUNDS_AT_MOST
                + (hasRowsOfEachRound() ? round : 0);
        return LongStream.range(first, first + scenario.semaphores()).boxed().toList();
    }

    /** Whether each round needs new rows, since they must be newer than a snapshot. */
    boolean hasRowsOfEachRound() {
        return scenario == Scenario.SNAPSHOT;
    }

    /**
     * What one acquire asks for: all of these semaphores, or one of them, at random or the next one.
     *
     * @param turn how many acquires of the thread were before
     */
    List<Long> pick(List<Long> semaphores, long turn) {
        int size = semaphores.size();
        if (scenario.namesAtOnce() == size) {
            return semaphores;
        }
        return List.of(semaphores.get(
                scenario.isInStep()
                        ? (int) (turn % size)
                        : ThreadLocalRandom.current().nextInt(size)));
    }
}
