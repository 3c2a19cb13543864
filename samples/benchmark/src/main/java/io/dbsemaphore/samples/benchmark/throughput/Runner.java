package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import java.time.Duration;

/** Runs rounds of one workload. */
interface Runner extends AutoCloseable {

    Measurement run(Approach approach, Duration length) throws Exception;

    @Override
    void close() throws Exception;
}
