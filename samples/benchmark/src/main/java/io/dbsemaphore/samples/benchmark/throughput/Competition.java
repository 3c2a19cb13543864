package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.contestant.Contestants;
import io.dbsemaphore.samples.benchmark.contestant.Surroundings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a workload with all contestants that suit it. They take turns, round by round, each round begun by another one, so
 * that whatever else the machine does meets all alike.
 */
public final class Competition {

    private final Surroundings surroundings;
    private final int rounds;
    private final Duration length;
    private final Duration warmUp;

    /**
     * With so many rounds of this length for each contestant.
     *
     * @param warmUp how long each contestant runs in a JVM that is new before anything counts
     */
    public Competition(Surroundings surroundings, int rounds, Duration length, Duration warmUp) {
        this.surroundings = surroundings;
        this.rounds = rounds;
        this.length = length;
        this.warmUp = warmUp;
    }

    /** Lets the JVM compile what the contestants run. */
    public void warmUp() throws Exception {
        run(Workload.WARM_UP, warmUp, 0);
    }

    /** One result for each contestant. */
    public List<Result> run(Workload workload) throws Exception {
        return run(workload, workload.jvms() == 1 ? length.dividedBy(2) : warmUp, rounds);
    }

    private List<Result> run(Workload workload, Duration before, int rounds) throws Exception {
        List<Approach> approaches = new ArrayList<>(
                surroundings.approaches().stream().filter(workload::suits).toList());
        Map<Approach, List<Measurement>> measured = new EnumMap<>(Approach.class);
        try (Contestants contestants = new Contestants(surroundings, approaches, workload.threads(), 0)) {
            for (Approach approach : approaches) {
                for (long semaphore : workload.semaphores()) {
                    contestants.get(approach).prepare(semaphore, workload.capacity());
                }
            }
            try (Runner runner = runner(contestants, workload, approaches)) {
                for (Approach approach : approaches) {
                    runner.run(approach, before);
                }
                for (int round = 0; round < rounds; round++) {
                    for (Approach approach : approaches) {
                        measured.computeIfAbsent(approach, first -> new ArrayList<>())
                                .add(runner.run(approach, length));
                    }
                    Collections.rotate(approaches, -1);
                }
            }
        }
        return measured.entrySet().stream()
                .map(entry -> new Result(workload, entry.getKey(), entry.getValue()))
                .toList();
    }

    private Runner runner(Contestants contestants, Workload workload, List<Approach> approaches) throws Exception {
        return workload.jvms() == 1
                ? new OneJvm(contestants, workload)
                : new TwoJvms(contestants, workload, new SecondJvm(surroundings, workload, approaches));
    }
}
