package io.dbsemaphore.tools.faults.oracle;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures how soon after a restart of the server as much is granted as before: when a second has ended in which nine tenths
 * were granted of the mean of the seconds before the server went down.
 */
final class Throughput {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int SECONDS_BEFORE = 5;
    private static final double SHARE = 0.9;

    private final Deque<Long> grants = new ArrayDeque<>();
    private final List<Duration> recovered = new ArrayList<>();
    private double wanted;
    private long readyAt;

    void down(long nanos) {
        if (readyAt == 0) { // otherwise it went down again before it had recovered
            forgetBefore(nanos - SECONDS_BEFORE * SECOND);
            wanted = SHARE * grants.size() / SECONDS_BEFORE;
        }
        readyAt = 0;
        grants.clear();
    }

    void ready(long nanos) {
        readyAt = nanos;
        grants.clear();
    }

    void granted(long nanos) {
        grants.addLast(nanos);
        if (readyAt == 0) {
            forgetBefore(nanos - SECONDS_BEFORE * SECOND);
            return;
        }
        forgetBefore(nanos - SECOND);
        if (grants.size() >= wanted) {
            recovered.add(Duration.ofNanos(nanos - readyAt));
            readyAt = 0;
        }
    }

    private void forgetBefore(long nanos) {
        while (!grants.isEmpty() && grants.getFirst() < nanos) {
            grants.removeFirst();
        }
    }

    Map<String, List<Duration>> afterReady() {
        return recovered.isEmpty() ? Map.of() : Map.of("second with 90 % of the grants before", List.copyOf(recovered));
    }
}
