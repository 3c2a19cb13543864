package io.dbsemaphore.domain;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Caches what scans of all holders of a semaphore have found. A refusal needs such a scan, while the semaphore's row is
 * locked. If a semaphore has many holders, the finding is therefore reused for some time, which bounds the share of time
 * that scans take, whatever the number of refusals.
 */
public final class HolderScans<T> {

    private static final int MAX_CACHED = 1_000;
    private static final long SHORTEST_REUSE = Duration.ofMillis(100).toNanos();

    /** A finding is reused for 20 times the duration of its scan: scans take at most 5 % of the time. */
    private static final int REUSE_PER_COST = 20;

    private record Finding<T>(T value, long madeAt, long reuse) {}

    private final LongSupplier nanoClock;
    /** Oldest first. */
    private final Map<Long, Finding<T>> findings = new LinkedHashMap<>();

    public HolderScans() {
        this(System::nanoTime);
    }

    public HolderScans(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** The start of a scan, to be passed to {@link #record}. */
    public long begin() {
        return nanoClock.getAsLong();
    }

    /** The finding of the last scan; empty when a new scan is due. */
    public synchronized Optional<T> recent(Shortfall shortfall) {
        Finding<T> finding = findings.get(shortfall.semaphoreId());
        return finding == null || nanoClock.getAsLong() - finding.madeAt() > finding.reuse()
                ? Optional.empty()
                : Optional.of(finding.value());
    }

    /** Caches the findings of a scan, for semaphores with many holders. */
    public synchronized void record(Collection<Shortfall> scanned, long begunAt, Function<Shortfall, T> found) {
        long now = nanoClock.getAsLong();
        long reuse = Math.max(SHORTEST_REUSE, REUSE_PER_COST * (now - begunAt));
        for (Shortfall shortfall : scanned) {
            findings.remove(shortfall.semaphoreId());
            if (shortfall.hasManyHolders()) {
                findings.put(shortfall.semaphoreId(), new Finding<>(found.apply(shortfall), now, reuse));
            }
        }
        while (findings.size() > MAX_CACHED) {
            findings.remove(findings.keySet().iterator().next());
        }
    }
}
