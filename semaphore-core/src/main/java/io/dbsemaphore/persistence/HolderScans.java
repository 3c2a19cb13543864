package io.dbsemaphore.persistence;

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
final class HolderScans<T> {

    private static final int MAX_REMEMBERED = 1_000;
    private static final long SHORTEST_REUSE = Duration.ofMillis(100).toNanos();

    /** A finding is reused for so many times as long as the scan took: scans take at most 5 % of the time. */
    private static final int REUSE_PER_COST = 20;

    private record Finding<T>(T value, long madeAt, long reuse) {}

    private final LongSupplier nanoClock;
    /** The least recently made first. */
    private final Map<Long, Finding<T>> findings = new LinkedHashMap<>();

    HolderScans() {
        this(System::nanoTime);
    }

    HolderScans(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** When a scan begins, for {@link #remember}. */
    long begin() {
        return nanoClock.getAsLong();
    }

    /** What the last scan found; empty when a new one is due. */
    synchronized Optional<T> recent(Lack lack) {
        Finding<T> finding = findings.get(lack.semaphoreId());
        return finding == null || nanoClock.getAsLong() - finding.madeAt() > finding.reuse()
                ? Optional.empty()
                : Optional.of(finding.value());
    }

    /** Remembers what a scan of these has found, where they have many holders. */
    synchronized void remember(Collection<Lack> scanned, long begunAt, Function<Lack, T> found) {
        long now = nanoClock.getAsLong();
        long reuse = Math.max(SHORTEST_REUSE, REUSE_PER_COST * (now - begunAt));
        for (Lack lack : scanned) {
            findings.remove(lack.semaphoreId());
            if (lack.hasManyHolders()) {
                findings.put(lack.semaphoreId(), new Finding<>(found.apply(lack), now, reuse));
            }
        }
        while (findings.size() > MAX_REMEMBERED) {
            findings.remove(findings.keySet().iterator().next());
        }
    }
}
