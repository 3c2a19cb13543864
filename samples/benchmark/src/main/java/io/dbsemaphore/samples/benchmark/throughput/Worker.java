package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Contestant;
import io.dbsemaphore.samples.benchmark.contestant.Held;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One thread of a round: acquires and releases until the time is up. */
final class Worker {

    private final Contestant contestant;
    private final Workload workload;
    private final List<Long> semaphores;
    private final Samples samples = new Samples();
    private long pairs;
    private long failures;
    private @Nullable String failure;

    Worker(Contestant contestant, Workload workload) {
        this.contestant = contestant;
        this.workload = workload;
        this.semaphores = workload.semaphores();
    }

    Measurement work(Duration length) throws InterruptedException {
        long end = System.nanoTime() + length.toNanos();
        while (System.nanoTime() - end < 0) {
            try {
                pair(end);
            } catch (InterruptedException interrupt) {
                throw interrupt;
            } catch (Exception thrown) {
                failures++;
                if (failure == null) {
                    failure = thrown.toString();
                }
            }
        }
        return new Measurement(length, pairs, samples, 0, failures, failure);
    }

    private void pair(long end) throws Exception {
        List<Long> wanted = workload.pick(semaphores);
        long start = System.nanoTime();
        Held held = contestant.acquire(wanted);
        samples.add(System.nanoTime() - start);
        held.release();
        if (System.nanoTime() - end < 0) {
            pairs++;
        }
    }
}
