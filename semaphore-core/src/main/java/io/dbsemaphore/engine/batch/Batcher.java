package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Lets many callers have done together, by one transaction on a thread of the library, what each would do by himself. A
 * transaction that fails is taken apart, so that only he sees the error who causes it.
 *
 * @param <I> what a caller wants
 * @param <O> what he gets
 */
public final class Batcher<I, O> implements BatchWorkers.Source, AutoCloseable {

    /** What is done with what has gathered. */
    interface Work<I, O> {

        /**
         * Does it by one transaction.
         *
         * @return what each gets, in their order; null where another transaction has locked a row of it
         */
        List<@Nullable O> run(List<I> items, Locks locks);

        /** Says what was not done, since a row was locked by another transaction for so long. */
        String lockedFor(I item, Duration time);
    }

    /** What a transaction makes of rows that others have locked. */
    enum Locks {
        /** It waits for them; there is one item. */
        WAIT,
        /** They are rare, so it leaves out those that are usually locked for long, and waits for the others. */
        UNLIKELY,
        /** They are likely, so it leaves them all out, at the cost of one more statement. */
        LIKELY
    }

    private static final long FIRST_PAUSE_MILLIS = 5;
    private static final long LONGEST_PAUSE_MILLIS = 200;

    private final Work<I, O> work;
    private final int maxBatchSize;
    private final int maxAttempts;
    private final int atOnce;
    private final Duration lockWait;
    private final BatchWorkers workers;
    private final ListenerNotifier listeners;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Item<I, O>> items = new LinkedHashSet<>();
    private final Set<Item<I, O>> piggyBacked = new LinkedHashSet<>();
    private int waiting;

    private static final class Item<I, O> {

        private final I wanted;
        private final CompletableFuture<O> answer = new CompletableFuture<>();
        private final long begunAt = System.nanoTime();
        private final Deadline giveUp;
        private int attempts;
        private boolean isolated;
        private long pauseMillis;
        private Deadline notBefore = Deadline.in(Duration.ZERO);

        Item(I wanted, Duration lockWait) {
            this.wanted = wanted;
            this.giveUp = Deadline.in(lockWait);
        }

        /** Whether another transaction was found to have locked a row of it. */
        private boolean isBlocked() {
            return pauseMillis > 0;
        }

        /** Makes it be tried again after a pause, which is longer each time, without waiting for the row. */
        private Duration block() {
            pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, isBlocked() ? 2 * pauseMillis : FIRST_PAUSE_MILLIS);
            return Duration.ofMillis(pauseMillis);
        }
    }

    /** What is done together. */
    private record Batch<I, O>(List<Item<I, O>> items, Locks locks) {}

    /**
     * Makes one.
     *
     * @param atOnce how many transactions at a time; all but one may wait for a row that another transaction has locked
     * @param lockWait for how long what another transaction has locked is tried
     */
    Batcher(
            DaemonThreads threads,
            String name,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Duration lockWait,
            ListenerNotifier listeners,
            Work<I, O> work) {
        this.lockWait = lockWait;
        this.work = work;
        this.maxBatchSize = maxBatchSize;
        this.maxAttempts = maxAttempts;
        this.atOnce = atOnce;
        this.listeners = listeners;
        this.workers = new BatchWorkers(threads, name, atOnce, this);
    }

    /** Has it done, and waits for it; an interrupt does not end that. */
    O submit(I wanted) {
        CompletableFuture<O> answer = add(wanted, items);
        if (!workers.help()) {
            workers.signal();
        }
        return await(answer);
    }

    /** Has it done by a thread of the library, which completes the future. */
    CompletableFuture<O> submitAsync(I wanted) {
        CompletableFuture<O> answer = add(wanted, items);
        workers.signal();
        return answer;
    }

    private CompletableFuture<O> add(I wanted, Set<Item<I, O>> to) {
        Item<I, O> item = new Item<>(wanted, lockWait);
        lock.lock();
        try {
            to.add(item);
        } finally {
            lock.unlock();
        }
        return item.answer;
    }

    /** Waits for the answer, and throws what it failed with as the caller's own. */
    public static <O> O await(CompletableFuture<O> answer) {
        try {
            return answer.join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /**
     * Hands it in for another transaction to {@linkplain #takePiggyBacked take along}. Where that does not succeed, it is done
     * as if it had been {@linkplain #submitAsync handed in}.
     *
     * @param submitted runs as soon as it can be taken
     */
    CompletableFuture<O> submitPiggyBacked(I wanted, Runnable submitted) {
        CompletableFuture<O> answer = add(wanted, piggyBacked);
        submitted.run();
        return answer;
    }

    /** Whether something waits to be taken along. */
    boolean hasPiggyBacked() {
        lock.lock();
        try {
            return !piggyBacked.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Takes along what is waiting for that. */
    PiggyBack takePiggyBacked() {
        lock.lock();
        try {
            List<Item<I, O>> taken = piggyBacked.stream().limit(maxBatchSize).toList();
            taken.forEach(piggyBacked::remove);
            return new PiggyBack(taken);
        } finally {
            lock.unlock();
        }
    }

    /** What a transaction of somebody else does along with its own. */
    final class PiggyBack {

        private final List<Item<I, O>> items;

        private PiggyBack(List<Item<I, O>> items) {
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

        /**
         * Nothing was done, or nobody knows whether it was.
         *
         * @return whether something is tried again
         */
        boolean failed(Throwable failure) {
            items.forEach(item -> {
                if (isInnocent(failure)) {
                    Batcher.this.failed(item, items.size(), failure);
                } else { // whoever it was, what rode along had better go its own way
                    again(item, Duration.ZERO);
                }
            });
            boolean again = items.stream().anyMatch(item -> !item.answer.isDone());
            signalIfAny();
            return again;
        }

        private void signalIfAny() {
            if (nanosToWork() < Long.MAX_VALUE) {
                workers.signal();
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
            answer(batch.items, work.run(wantedOf(batch.items), batch.locks));
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
                blocked(item, null);
            } else {
                item.answer.complete(result);
            }
        }
    }

    /** Another transaction has locked a row of it. Between the attempts it holds neither a connection nor a lock. */
    private void blocked(Item<I, O> item, @Nullable Throwable failure) {
        if (item.giveUp.isPassed()) {
            item.answer.completeExceptionally(
                    new CannotAcquireLockException(work.lockedFor(item.wanted, lockWait), failure));
        } else {
            again(item, item.block());
        }
    }

    private static boolean isInnocent(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException || SemaphorePersistence.isUnreachable(failure);
    }

    private void failed(Item<I, O> item, int together, Throwable failure) {
        boolean locked = SqlErrors.isConflict(failure) && !SqlErrors.isVictim(failure);
        if (together > 1 && locked) {
            again(item, item.block());
        } else if (together > 1 && !isInnocent(failure)) {
            item.isolated = true;
            again(item, Duration.ZERO);
        } else if (locked) {
            blocked(item, failure);
        } else if (RetryLimit.remain(failure, ++item.attempts, maxAttempts, item.begunAt)) {
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
                if (item.notBefore.isPassed() && taken.size() < maxBatchSize && fits(item, taken)) {
                    taken.add(item);
                    if (item.isolated) {
                        break;
                    }
                }
            }
            taken.forEach(items::remove);
            Locks locks = locks(taken);
            waiting += locks == Locks.WAIT ? 1 : 0;
            return new Batch<>(taken, locks);
        } finally {
            lock.unlock();
        }
    }

    private Locks locks(List<Item<I, O>> taken) {
        if (taken.stream().anyMatch(Item::isBlocked)) {
            return Locks.LIKELY;
        }
        return taken.size() == 1 && waiting < atOnce - 1 ? Locks.WAIT : Locks.UNLIKELY;
    }

    /** What is probably still locked is tried apart from what is not, which it would cost a round trip. */
    private boolean fits(Item<I, O> item, List<Item<I, O>> taken) {
        return taken.isEmpty()
                || (!item.isolated && item.isBlocked() == taken.get(0).isBlocked());
    }

    private void finish(Batch<I, O> batch) {
        lock.lock();
        try {
            waiting -= batch.locks == Locks.WAIT ? 1 : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Lets what has gathered be done. What is submitted afterwards is done, too, as long as there is a database. */
    @Override
    public void close() {
        workers.close();
    }
}
