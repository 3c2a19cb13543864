package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.DatabaseThreads;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Coalesces requests: one transaction does what many callers want. A batch that fails is bisected into its items, so that
 * only the caller whose item causes a failure sees it.
 *
 * @param <I> what a caller wants
 * @param <O> its answer
 */
final class Batcher<I, O> implements BatchWorkers.Source, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Batcher.class);

    /** What the transactions do. */
    interface Work<I, O> {

        /** Does what one caller wants, by one transaction, which waits for rows that others have locked. */
        O runOne(I item);

        /**
         * Does what many want, by one transaction, which does not wait for rows that others have locked.
         *
         * @param lockedLikely whether such rows are to be expected
         * @return the answers, in their order; null where another transaction has locked a row
         */
        List<@Nullable O> run(List<I> items, boolean lockedLikely);

        /** Says what was not done, since a row was locked by another transaction for so long. */
        String lockedFor(I item, Duration time);
    }

    private final Work<I, O> work;
    private final BatchLimits limits;
    private final ListenerNotifier listeners;
    private final BatchWorkers workers;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<BatchItem<I, O>> items = new LinkedHashSet<>();
    private final Set<BatchItem<I, O>> piggyBacked = new LinkedHashSet<>();
    private int waiting;

    /** Items of one transaction; whether it waits for locked rows, as it may for a single item. */
    private record Batch<I, O>(List<BatchItem<I, O>> items, boolean waits) {

        boolean isLockedLikely() {
            return items.stream().anyMatch(BatchItem::isBlocked);
        }
    }

    Batcher(
            DaemonThreads threads,
            DatabaseThreads databaseThreads,
            String name,
            BatchLimits limits,
            ListenerNotifier listeners,
            Work<I, O> work) {
        this.work = work;
        this.limits = limits;
        this.listeners = listeners;
        this.workers = new BatchWorkers(threads, name, limits.atOnce(), databaseThreads, this);
    }

    /** Has it done by a thread of the library, which completes the future. */
    CompletableFuture<O> submitAsync(I wanted) {
        CompletableFuture<O> answer = add(new BatchItem<>(wanted, limits.lockWait()), items);
        workers.signal();
        return answer;
    }

    /**
     * Begins to do a single item on the calling thread; null where another batch is under way, or has to be. To be ended by
     * {@link #endInCaller}.
     */
    @Nullable BatchItem<I, O> beginInCaller(I wanted) {
        if (!workers.beginInCaller()) {
            return null;
        }
        lock.lock();
        try {
            waiting++;
        } finally {
            lock.unlock();
        }
        return new BatchItem<>(wanted, limits.lockWait());
    }

    /** The item has failed: it is tried again by a thread of the library, or answered by the failure. */
    void failedInCaller(BatchItem<I, O> item, Throwable failure) {
        failed(List.of(item), failure);
    }

    /** Ends what {@link #beginInCaller} has begun. */
    void endInCaller() {
        finishWaiting();
        workers.endInCaller();
    }

    private CompletableFuture<O> add(BatchItem<I, O> item, Set<BatchItem<I, O>> to) {
        lock.lock();
        try {
            to.add(item);
        } finally {
            lock.unlock();
        }
        return item.answer();
    }

    /** Waits for the answer, and throws what it failed with as the caller's own; an interrupt does not end that. */
    static <O> O await(CompletableFuture<O> answer) {
        try {
            return answer.join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /**
     * Submits it for another transaction to {@linkplain #takePiggyBacked take with it}. Where that does not succeed, it is
     * done as if it had been {@linkplain #submitAsync submitted}.
     *
     * @param submitted runs as soon as it can be taken
     */
    CompletableFuture<O> submitPiggyBacked(I wanted, Runnable submitted) {
        CompletableFuture<O> answer = add(new BatchItem<>(wanted, limits.lockWait()), piggyBacked);
        submitted.run();
        return answer;
    }

    /** Whether something waits to be taken by another transaction. */
    boolean hasPiggyBacked() {
        lock.lock();
        try {
            return !piggyBacked.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Takes what waits for another transaction; it is to be told what became of it. */
    List<BatchItem<I, O>> takePiggyBacked() {
        lock.lock();
        try {
            List<BatchItem<I, O>> taken =
                    piggyBacked.stream().limit(limits.maxBatchSize()).toList();
            taken.forEach(piggyBacked::remove);
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** The other transaction has done it: the answers, in their order; null for what is to be done by itself. */
    void piggyBackedDone(List<BatchItem<I, O>> taken, List<@Nullable O> answers) {
        answer(taken, answers);
        signalIfAny();
    }

    /**
     * The other transaction has failed: nothing was done, or it is unknown whether it was.
     *
     * @return whether something is tried again
     */
    boolean piggyBackedFailed(List<BatchItem<I, O>> taken, Throwable failure) {
        if (isOfConnection(failure)) {
            taken.forEach(item -> failed(item, taken.size(), failure));
        } else { // whichever part of that transaction it was, these are better done by themselves
            taken.forEach(item -> again(item, Duration.ZERO));
        }
        signalIfAny();
        return taken.stream().anyMatch(item -> !item.isAnswered());
    }

    private void signalIfAny() {
        if (nanosToWork() < Long.MAX_VALUE) {
            workers.signal();
        }
    }

    @Override
    public long nanosToWork() {
        lock.lock();
        try {
            return items.stream().mapToLong(BatchItem::nanosToDue).min().orElse(Long.MAX_VALUE);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run(boolean unused) {
        Batch<I, O> batch = take();
        if (batch.items.isEmpty()) {
            return;
        }
        try {
            if (batch.waits) {
                batch.items
                        .get(0)
                        .answer()
                        .complete(work.runOne(batch.items.get(0).wanted()));
            } else {
                List<I> wanted = batch.items.stream().map(BatchItem::wanted).toList();
                answer(batch.items, work.run(wanted, batch.isLockedLikely()));
            }
        } catch (RuntimeException | Error failure) {
            failed(batch.items, failure);
        } finally {
            if (batch.waits) {
                finishWaiting();
            }
        }
    }

    private void answer(List<BatchItem<I, O>> done, List<@Nullable O> answers) {
        for (int i = 0; i < answers.size(); i++) {
            BatchItem<I, O> item = done.get(i);
            O answer = answers.get(i);
            if (answer == null) {
                blocked(item, null);
            } else {
                item.answer().complete(answer);
            }
        }
    }

    private void failed(List<BatchItem<I, O>> batch, Throwable failure) {
        batch.forEach(item -> failed(item, batch.size(), failure));
        if (batch.stream().anyMatch(item -> !item.isAnswered())) {
            listeners.tell(listener -> listener.retried(failure));
        }
    }

    /** Another transaction has locked a row of it. Between the attempts it holds neither a connection nor a lock. */
    private void blocked(BatchItem<I, O> item, @Nullable Throwable failure) {
        if (item.isBlockedForTooLong()) {
            item.answer()
                    .completeExceptionally(
                            new CannotAcquireLockException(work.lockedFor(item.wanted(), limits.lockWait()), failure));
        } else {
            again(item, item.block());
        }
    }

    /** Whether no item can be the reason: it is the connection that failed. */
    private static boolean isOfConnection(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException || SemaphorePersistence.isUnreachable(failure);
    }

    private void failed(BatchItem<I, O> item, int together, Throwable failure) {
        boolean locked = SqlErrors.isConflict(failure) && !SqlErrors.isVictim(failure);
        if (together > 1 && locked) {
            again(item, item.block());
        } else if (together > 1 && !isOfConnection(failure)) {
            item.isolate();
            again(item, Duration.ZERO);
        } else if (locked) {
            blocked(item, failure);
        } else {
            int attempts = item.failed();
            if (RetryLimit.remain(failure, attempts, limits.maxAttempts(), System.nanoTime() - item.begunAt())) {
                again(item, Duration.ofMillis(20L * attempts));
            } else {
                item.answer()
                        .completeExceptionally(
                                failure instanceof CommitOutcomeUnknownException unknown
                                        ? unknown.translatedCause()
                                        : failure);
            }
        }
    }

    private void again(BatchItem<I, O> item, Duration pause) {
        item.pauseFor(pause);
        CompletableFuture<O> unused = add(item, items);
    }

    private Batch<I, O> take() {
        lock.lock();
        try {
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
        } finally {
            lock.unlock();
        }
    }

    /** What is probably still locked is tried apart from what is not, which it would cost a round trip. */
    private boolean fits(BatchItem<I, O> item, List<BatchItem<I, O>> taken) {
        return taken.isEmpty()
                || (!item.isIsolated() && item.isBlocked() == taken.get(0).isBlocked());
    }

    private void finishWaiting() {
        lock.lock();
        try {
            waiting--;
        } finally {
            lock.unlock();
        }
    }

    /** Lets what was submitted be done. What is submitted afterwards is done, too, as long as there is a database. */
    @Override
    public void close() {
        workers.close();
    }
}
