package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.Monitor;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The releases that are not done yet: those for transactions of their own, and those to be piggy-backed on a grant transaction. */
final class ReleaseQueue {

    private final Monitor monitor = new Monitor();
    private final BatchLimits limits;
    private final Set<QueuedRelease> releases = new LinkedHashSet<>();
    private final Set<QueuedRelease> piggyBacked = new LinkedHashSet<>();
    private int waiting;

    /** The releases of one transaction; whether it waits for row locks, as it may for a single one. */
    record Batch(List<QueuedRelease> releases, boolean waits) {

        boolean isLockedLikely() {
            return releases.stream().anyMatch(QueuedRelease::isBlocked);
        }
    }

    ReleaseQueue(BatchLimits limits) {
        this.limits = limits;
    }

    /** Adds a release for a transaction of the batcher. */
    void add(QueuedRelease release) {
        monitor.run(() -> releases.add(release));
    }

    /** Adds a release to be piggy-backed on a grant transaction. */
    void addPiggyBacked(QueuedRelease release) {
        monitor.run(() -> piggyBacked.add(release));
    }

    boolean hasPiggyBacked() {
        return monitor.is(() -> !piggyBacked.isEmpty());
    }

    List<QueuedRelease> takePiggyBacked() {
        return monitor.get(() -> {
            List<QueuedRelease> taken =
                    piggyBacked.stream().limit(limits.maxBatchSize()).toList();
            taken.forEach(piggyBacked::remove);
            return taken;
        });
    }

    /** The time until a release is due; {@link Long#MAX_VALUE} when there is none. */
    long nanosToWork() {
        return monitor.get(() ->
                releases.stream().mapToLong(QueuedRelease::nanosToDue).min().orElse(Long.MAX_VALUE));
    }

    /** Takes the releases of the next batch. If the batch waits, {@link #finishWaiting} is to be called when it has ended. */
    Batch take() {
        return monitor.get(() -> {
            List<QueuedRelease> taken = new ArrayList<>();
            for (QueuedRelease release : releases) {
                if (release.isDue() && taken.size() < limits.maxBatchSize() && fits(release, taken)) {
                    taken.add(release);
                    if (release.isIsolated()) {
                        break;
                    }
                }
            }
            taken.forEach(releases::remove);
            boolean waits = taken.size() == 1 && !taken.get(0).isBlocked() && waiting < limits.maxWaiting();
            waiting += waits ? 1 : 0;
            return new Batch(taken, waits);
        });
    }

    /** Releases that were locked are batched apart from the others: finding the locked rows takes a further round trip. */
    private static boolean fits(QueuedRelease release, List<QueuedRelease> taken) {
        return taken.isEmpty()
                || (!release.isIsolated() && release.isBlocked() == taken.get(0).isBlocked());
    }

    void finishWaiting() {
        monitor.run(() -> waiting--);
    }
}
