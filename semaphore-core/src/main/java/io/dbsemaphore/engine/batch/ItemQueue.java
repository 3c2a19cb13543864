package io.dbsemaphore.engine.batch;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The undone items of a {@link Batcher}: those for its own transactions, and those to be piggy-backed on another transaction.
 *
 * @param <I> the request of a caller
 * @param <O> its answer
 */
final class ItemQueue<I, O> {

    private final QueueLock lock = new QueueLock();
    private final BatchLimits limits;
    private final Set<BatchItem<I, O>> items = new LinkedHashSet<>();
    private final Set<BatchItem<I, O>> piggyBacked = new LinkedHashSet<>();
    private int waiting;

    /** The items of one transaction; whether it waits for row locks, as it may for a single item. */
    record Batch<I, O>(List<BatchItem<I, O>> items, boolean waits) {

        boolean isLockedLikely() {
            return items.stream().anyMatch(BatchItem::isBlocked);
        }
    }

    ItemQueue(BatchLimits limits) {
        this.limits = limits;
    }

    /** Adds an item for a transaction of the batcher. */
    CompletableFuture<O> add(BatchItem<I, O> item) {
        lock.run(() -> items.add(item));
        return item.answer();
    }

    /** Adds an item to be piggy-backed on another transaction. */
    CompletableFuture<O> addPiggyBacked(BatchItem<I, O> item) {
        lock.run(() -> piggyBacked.add(item));
        return item.answer();
    }

    boolean hasPiggyBacked() {
        return lock.is(() -> !piggyBacked.isEmpty());
    }

    List<BatchItem<I, O>> takePiggyBacked() {
        return lock.get(() -> {
            List<BatchItem<I, O>> taken =
                    piggyBacked.stream().limit(limits.maxBatchSize()).toList();
            taken.forEach(piggyBacked::remove);
            return taken;
        });
    }

    /** The time until an item is due; {@link Long#MAX_VALUE} when there is none. */
    long nanosToWork() {
        return lock.get(
                () -> items.stream().mapToLong(BatchItem::nanosToDue).min().orElse(Long.MAX_VALUE));
    }

    /** Takes the items of the next batch. If the batch waits, {@link #finishWaiting} is to be called when it has ended. */
    Batch<I, O> take() {
        return lock.get(() -> {
            List<BatchItem<I, O>> taken = new ArrayList<>();
            for (BatchItem<I, O> item : items) {
                if (item.isDue() && taken.size() < limits.maxBatchSize() && fits(item, taken)) {
                    taken.add(item);
                    if (item.isIsolated()) {
                        break;
                    }
                }
            }
            taken.forEach(items::remove);
            boolean waits = taken.size() == 1 && !taken.get(0).isBlocked() && waiting < limits.maxWaiting();
            waiting += waits ? 1 : 0;
            return new Batch<>(taken, waits);
        });
    }

    /** Items that were locked are batched apart from the others: finding the locked rows takes a further round trip. */
    private boolean fits(BatchItem<I, O> item, List<BatchItem<I, O>> taken) {
        return taken.isEmpty()
                || (!item.isIsolated() && item.isBlocked() == taken.get(0).isBlocked());
    }

    /** Counts a transaction that waits for row locks. */
    void beginWaiting() {
        lock.run(() -> waiting++);
    }

    void finishWaiting() {
        lock.run(() -> waiting--);
    }
}
