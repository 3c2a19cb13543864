package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Contestant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** One contestant on one workload, for a while, in this JVM. */
final class Round {

    private final Contestant contestant;
    private final Workload workload;
    private final Duration length;

    Round(Contestant contestant, Workload workload, Duration length) {
        this.contestant = contestant;
        this.workload = workload;
        this.length = length;
    }

    /** @param barrier called when all threads are there; they begin when it returns */
    Measurement run(Barrier barrier) throws Exception {
        CountDownLatch ready = new CountDownLatch(workload.threads());
        CountDownLatch go = new CountDownLatch(1);
        ExecutorService threads = Executors.newFixedThreadPool(workload.threads());
        try (ConnectionPeak connections = new ConnectionPeak(contestant)) {
            List<Future<Measurement>> futures = new ArrayList<>();
            for (int thread = 0; thread < workload.threads(); thread++) {
                Worker worker = new Worker(contestant, workload);
                futures.add(threads.submit(() -> {
                    ready.countDown();
                    go.await();
                    return worker.work(length);
                }));
            }
            ready.await();
            barrier.await();
            go.countDown();
            List<Measurement> parts = new ArrayList<>();
            for (Future<Measurement> future : futures) {
                parts.add(future.get());
            }
            Measurement all = Measurement.sum(parts);
            return new Measurement(
                    length, all.pairs(), all.acquires(), connections.value(), all.failures(), all.failure());
        } finally {
            threads.shutdownNow();
        }
    }

    /** Where JVMs wait for each other. */
    @FunctionalInterface
    interface Barrier {

        void await() throws Exception;
    }
}
