package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.SemaphorePersistence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets many callers have done together, by one transaction on a thread of the library, what each would do by himself. A
 * transaction that fails is taken apart, so that only he sees the error who causes it.
 *
 * @param <I> what a caller wants
 * @param <O> what he gets
 */
final class Gathering<I, O> implements Lanes.Desk, AutoCloseable {

    /** What is done with what has gathered. */
    interface Work<I, O> {

        /**
         * Does it by one transaction.
         *
         * @param mayWait whether rows that others have locked may be waited for
         * @return what each gets, in their order; null for what is to be done by itself, where it may wait
         */
        List<@Nullable O> run(List<I> items, boolean mayWait);
    }

    private final Work<I, O> work;
    private final int maxBatchSize;
    private final int maxAttempts;
    private final int atOnce;
    private final Lanes lanes;
    private final Listeners listeners;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Item<I, O>> items = new LinkedHashSet<>();
    private final Set<Item<I, O>> riders = new LinkedHashSet<>();
    private int waiting;

    private static final class Item<I, O> {

        private final I wanted;
        private final CompletableFuture<O> answer = new CompletableFuture<>();
        private final long begunAt = System.nanoTime();
        private int attempts;
        private boolean alone;
        private Deadline notBefore = Deadline.in(Duration.ZERO);

        Item(I wanted) {
            this.wanted = wanted;
        }
    }

    /** What is done together. */
    private record Batch<I, O>(List<Item<I, O>> items, boolean mayWait) {}

    Gathering(
            DaemonThreads threads,
            String name,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Listeners listeners,
            Work<I, O> work) {
        this.work = work;
        this.maxBatchSize = maxBatchSize;
        this.maxAttempts = maxAttempts;
        this.atOnce = atOnce;
        this.listeners = listeners;
        this.lanes = new Lanes(threads, name, atOnce, this);
    }

    /** Has it done, and waits for it; an interrupt does not end that. */
    O submit(I wanted) {
        Item<I, O> item = new Item<>(wanted);
        lock.lock();
        try {
            items.add(item);
        } finally {
            lock.unlock();
        }
        if (!lanes.help()) {
            lanes.signal();
        }
        return await(item);
    }

    private O await(Item<I, O> item) {
        try {
            return item.answer.join();
        } catch (CompletionException failure) {
            throw CallerFailures.of(failure.getCause());
        }
    }

    /**
     * Hands it in for somebody else to {@linkplain #takeRiders take along}, and waits for it. Where he does not succeed, it
     * is done as if it had been submitted.
     *
     * @param handedIn runs as soon as it can be taken
     */
    O submitToRide(I wanted, Runnable handedIn) {
        Item<I, O> item = new Item<>(wanted);
        lock.lock();
        try {
            riders.add(item);
        } finally {
            lock.unlock();
        }
        handedIn.run();
        return await(item);
    }

    /** Whether something waits to be taken along. */
    boolean hasRiders() {
        lock.lock();
        try {
            return !riders.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Takes along what is waiting for that. */
    Ride takeRiders() {
        lock.lock();
        try {
            List<Item<I, O>> taken = riders.stream().limit(maxBatchSize).toList();
            taken.forEach(riders::remove);
            return new Ride(taken);
        } finally {
            lock.unlock();
        }
    }

    /** What a transaction of somebody else does along with its own. */
    final class Ride {

        private final List<Item<I, O>> items;

        private Ride(List<Item<I, O>> items) {
            this.items = items;
        }

        List<I> wanted() {
            return wantedOf(items);
        }

        /** What each gets, in their order; null for what is to be done by itself. */
        void done(List<@Nullable O> done) {
            answer(items, done);
            signalIfAny();
        }

        /** Nothing was done, or nobody knows whether it was. */
        void failed(Throwable failure) {
            items.forEach(item -> {
                if (isInnocent(failure)) {
                    Gathering.this.failed(item, items.size(), failure);
                } else { // whoever it was, what rode along had better go its own way
                    again(item, Duration.ZERO);
                }
            });
            signalIfAny();
        }

        private void signalIfAny() {
            if (nanosToWork() < Long.MAX_VALUE) {
                lanes.signal();
            }
        }
    }

    @Override
    public long nanosToWork() {
        lock.lock();
        try {
            return items.stream()
                    .mapToLong(item -> Math.max(0, item.notBefore.remainingNanos()))
                    .min()
                    .orElse(Long.MAX_VALUE);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void work(boolean unused) {
        Batch<I, O> batch = take();
        if (batch.items.isEmpty()) {
            return;
        }
        try {
            answer(batch.items, work.run(wantedOf(batch.items), batch.mayWait));
        } catch (RuntimeException | Error failure) {
            batch.items.forEach(item -> failed(item, batch.items.size(), failure));
            if (batch.items.stream().anyMatch(item -> !item.answer.isDone())) {
                listeners.tell(listener -> listener.retried(failure));
            }
        } finally {
            finish(batch);
        }
    }

    private static <I, O> List<I> wantedOf(List<Item<I, O>> items) {
        return items.stream().map(item -> item.wanted).toList();
    }

    private void answer(List<Item<I, O>> done, List<@Nullable O> results) {
        for (int i = 0; i < results.size(); i++) {
            Item<I, O> item = done.get(i);
            O result = results.get(i);
            if (result == null) {
                again(item, Duration.ofMillis(item.alone ? 5 : 0));
                item.alone = true;
            } else {
                item.answer.complete(result);
            }
        }
    }

    private static boolean isInnocent(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException || SemaphorePersistence.isUnreachable(failure);
    }

    private void failed(Item<I, O> item, int together, Throwable failure) {
        if (together > 1 && !isInnocent(failure)) {
            item.alone = true;
            again(item, Duration.ZERO);
        } else if (Attempts.remain(failure, ++item.attempts, maxAttempts, item.begunAt)) {
            again(item, Duration.ofMillis(20L * item.attempts));
        } else {
            item.answer.completeExceptionally(
                    failure instanceof CommitOutcomeUnknownException unknown ? unknown.translatedCause() : failure);
        }
    }

    private void again(Item<I, O> item, Duration pause) {
        lock.lock();
        try {
            item.notBefore = Deadline.in(pause);
            items.add(item);
        } finally {
            lock.unlock();
        }
    }

    private Batch<I, O> take() {
        lock.lock();
        try {
            List<Item<I, O>> taken = new ArrayList<>();
            for (Item<I, O> item : items) {
                if (item.notBefore.isPassed() && taken.size() < maxBatchSize && (taken.isEmpty() || !item.alone)) {
                    taken.add(item);
                    if (item.alone) {
                        break;
                    }
                }
            }
            taken.forEach(items::remove);
            boolean mayWait = taken.size() == 1 && (waiting < atOnce - 1 || atOnce == 1);
            waiting += mayWait ? 1 : 0;
            return new Batch<>(taken, mayWait);
        } finally {
            lock.unlock();
        }
    }

    private void finish(Batch<I, O> batch) {
        lock.lock();
        try {
            waiting -= batch.mayWait ? 1 : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Lets what has gathered be done. What is submitted afterwards is done, too, as long as there is a database. */
    @Override
    public void close() {
        lanes.close();
    }
}
