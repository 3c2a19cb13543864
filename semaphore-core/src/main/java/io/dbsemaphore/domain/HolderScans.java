package io.dbsemaphore.domain;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * What reading every holder of a semaphore has found. A refusal needs that, and does it under the lock of the semaphore's
 * row. Where there are many holders, the finding is therefore reused for a while, so that these scans take a small part
 * of the time, however many refusals there are.
 */
public final class HolderScans<T> {

    private static final int MAX_REMEMBERED = 1_000;
    private static final long SHORTEST_REUSE = Duration.ofMillis(100).toNanos();

    /** A finding is reused for so many times as long as the scan took: scans take at most 5 % of the time. */
    private static final int REUSE_PER_COST = 20;

    private record Finding<T>(T value, long madeAt, long reuse) {}

    private final LongSupplier nanoClock;
    /** The least recently made first. */
    private final Map<Long, Finding<T>> findings = new LinkedHashMap<>();

    public HolderScans() {
        this(System::nanoTime);
    }

    public HolderScans(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** When a scan begins, for {@link #remember}. */
    public long begin() {
        return nanoClock.getAsLong();
    }

    /** What the last scan found; empty when a new one is due. */
    public synchronized Optional<T> recent(Shortfall shortfall) {
        Finding<T> finding = findings.get(shortfall.semaphoreId());
        return finding == null || nanoClock.getAsLong() - finding.madeAt() > finding.reuse()
                ? Optional.empty()
                : Optional.of(finding.value());
    }

    /** Remembers what a scan of these has found, where they have many holders. */
    public synchronized void remember(Collection<Shortfall> scanned, long begunAt, Function<Shortfall, T> found) {
        long now = nanoClock.getAsLong();
        long reuse = Math.max(SHORTEST_REUSE, REUSE_PER_COST * (now - begunAt));
        for (Shortfall shortfall : scanned) {
            findings.remove(shortfall.semaphoreId());
            if (shortfall.hasManyHolders()) {
                findings.put(shortfall.semaphoreId(), new Finding<>(found.apply(shortfall), now, reuse));
            }
        }
        while (findings.size() > MAX_REMEMBERED) {
            findings.remove(findings.keySet().iterator().next());
        }
    }
}
