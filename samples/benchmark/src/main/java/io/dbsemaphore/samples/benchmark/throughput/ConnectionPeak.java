package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Contestant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Looks every few milliseconds how many connections a contestant has in use. */
final class ConnectionPeak implements AutoCloseable {

    private static final long PERIOD_MILLIS = 3;

    private final AtomicInteger peak = new AtomicInteger();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

    ConnectionPeak(Contestant contestant) {
        var unused = clock.scheduleAtFixedRate(
                () -> peak.accumulateAndGet(contestant.connectionsInUse(), Math::max),
                0,
                PERIOD_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    int value() {
        return peak.get();
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
