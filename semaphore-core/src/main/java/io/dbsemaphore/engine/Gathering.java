package io.dbsemaphore.engine;

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

    private static final int MAX_ITEMS = 500;

    private final Work<I, O> work;
    private final int maxAttempts;
    private final int atOnce;
    private final Lanes lanes;
    private final Listeners listeners;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Item<I, O>> items = new LinkedHashSet<>();
    private int waiting;

    private static final class Item<I, O> {

        private final I wanted;
        private final CompletableFuture<O> answer = new CompletableFuture<>();
        private int attempts;
        private boolean alone;
        private Deadline notBefore = Deadline.in(Duration.ZERO);

        Item(I wanted) {
            this.wanted = wanted;
        }
    }

    /** What is done together. */
    private record Batch<I, O>(List<Item<I, O>> items, boolean mayWait) {}

    Gathering(String name, int atOnce, int maxAttempts, Listeners listeners, Work<I, O> work) {
        this.work = work;
        this.maxAttempts = maxAttempts;
        this.atOnce = atOnce;
        this.listeners = listeners;
        this.lanes = new Lanes(name, atOnce, this);
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
        try {
            return item.answer.join();
        } catch (CompletionException failure) {
            throw CallerFailures.of(failure.getCause());
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
            List<@Nullable O> done =
                    work.run(batch.items.stream().map(item -> item.wanted).toList(), batch.mayWait);
            for (int i = 0; i < done.size(); i++) {
                Item<I, O> item = batch.items.get(i);
                O result = done.get(i);
                if (result == null) {
                    item.alone = true;
                    again(item, Duration.ofMillis(batch.items.size() == 1 ? 5 : 0));
                } else {
                    item.answer.complete(result);
                }
            }
        } catch (RuntimeException | Error failure) {
            batch.items.forEach(item -> failed(item, batch.items.size(), failure));
            if (batch.items.stream().anyMatch(item -> !item.answer.isDone())) {
                listeners.tell(listener -> listener.retried(failure));
            }
        } finally {
            finish(batch);
        }
    }

    private void failed(Item<I, O> item, int together, Throwable failure) {
        boolean innocent =
                failure instanceof CommitOutcomeUnknownException || SemaphorePersistence.isUnreachable(failure);
        if (together > 1 && !innocent) {
            item.alone = true;
            again(item, Duration.ZERO);
        } else if (SemaphorePersistence.isWorthRepeating(failure) && ++item.attempts < maxAttempts) {
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
                if (item.notBefore.isPassed() && taken.size() < MAX_ITEMS && (taken.isEmpty() || !item.alone)) {
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
