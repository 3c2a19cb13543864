package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.contestant.Contestants;
import java.time.Duration;

/** Rounds in this JVM alone. */
final class OneJvm implements Runner {

    private final Contestants contestants;
    private final Workload workload;

    OneJvm(Contestants contestants, Workload workload) {
        this.contestants = contestants;
        this.workload = workload;
    }

    @Override
    public Measurement run(Approach approach, Duration length) throws Exception {
        return new Round(contestants.get(approach), workload, length).run(() -> {});
    }

    @Override
    public void close() {}
}
