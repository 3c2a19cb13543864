package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.contestant.Contestants;
import java.time.Duration;
import java.util.List;

/** The same round in this JVM and in a second one, begun together; the result is the sum. */
final class TwoJvms implements Runner {

    private final Contestants contestants;
    private final Workload workload;
    private final SecondJvm second;

    TwoJvms(Contestants contestants, Workload workload, SecondJvm second) {
        this.contestants = contestants;
        this.workload = workload;
        this.second = second;
    }

    @Override
    public Measurement run(Approach approach, Duration length) throws Exception {
        second.order(approach, length);
        Measurement here = new Round(contestants.get(approach), workload, length).run(() -> {
            second.awaitReady();
            second.go();
        });
        return Measurement.sum(List.of(here, second.result()));
    }

    @Override
    public void close() throws Exception {
        second.close();
    }
}
