package io.dbsemaphore.domain;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * Caches the results of scans of all holders of a semaphore. A refusal needs such a scan, while the semaphore's row is locked. A scan takes
 * long if there are many holders, or while an open old snapshot makes it read released permits, too. The result of a long scan is reused
 * for some time, which limits the share of time that scans take, whatever the number of refusals.
 */
public final class HolderScans<T> {

    private static final int MAX_CACHED = 1_000;

    /** A scan up to this long costs no more than the acquire itself, so its result is not reused. */
    private static final long SHORT = Duration.ofMillis(1).toNanos();

    /** A result is reused for 20 times the duration of its scan, so that scans take at most 5 % of the time. */
    private static final int REUSE_PER_COST = 20;

    /**
     * The reuse is computed from at most this duration for the first long scan, and for each further one from at most the duration of the
     * one before: a single scan may have taken long because the JVM, the network or the server was stalled.
     */
    private static final long FIRST = Duration.ofMillis(100).toNanos();

    private record Finding<T>(T value, long madeAt, long cost, long reuse) {}

    private final LongSupplier nanoClock;
    /** Oldest first. */
    private final Map<Long, Finding<T>> findings = new LinkedHashMap<>();

    public HolderScans() {
        this(System::nanoTime);
    }

    public HolderScans(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Begins a scan, and returns its start for {@link #record}. */
    public long begin() {
        return nanoClock.getAsLong();
    }

    /** The result of the last scan; empty if a new scan is due. */
    public synchronized Optional<T> recent(long semaphoreId) {
        Finding<T> finding = findings.get(semaphoreId);
        return finding == null || nanoClock.getAsLong() - finding.madeAt() > finding.reuse()
                ? Optional.empty()
                : Optional.of(finding.value());
    }

    /** Caches the results of a scan, by the ids of the semaphores, if it has taken long. */
    public synchronized void record(Collection<Long> scanned, long begunAt, LongFunction<T> found) {
        long now = nanoClock.getAsLong();
        long cost = now - begunAt;
        for (long semaphoreId : scanned) {
            Finding<T> before = findings.remove(semaphoreId);
            if (cost > SHORT) {
                long reuse = REUSE_PER_COST * Math.min(cost, before == null ? FIRST : before.cost());
                findings.put(semaphoreId, new Finding<>(found.apply(semaphoreId), now, cost, reuse));
            }
        }
        while (findings.size() > MAX_CACHED) {
            findings.remove(findings.keySet().iterator().next());
        }
    }
}
