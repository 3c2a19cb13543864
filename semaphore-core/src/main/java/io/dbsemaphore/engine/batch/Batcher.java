package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Coalesces requests: one transaction serves many callers. A batch that fails is bisected into its items, so that only the
 * caller whose item causes a failure sees it.
 *
 * @param <I> the request of a caller
 * @param <O> its answer
 */
final class Batcher<I, O> implements BatchWorkers.Source, AutoCloseable {

    /** The transactions. */
    interface Work<I, O> {

        /** Serves one request by one transaction, which waits for rows that other transactions have locked. */
        O runOne(I item);

        /**
         * Serves several requests by one transaction, which does not wait for rows that other transactions have locked.
         *
         * @param lockedLikely whether such rows are to be expected
         * @return the answers, in the order of the requests; null where another transaction has locked a row
         */
        List<@Nullable O> run(List<I> items, boolean lockedLikely);

        /** The message of the exception for a request that failed since a row was locked by another transaction for so long. */
        String lockedFor(I item, Duration time);
    }

    private final Work<I, O> work;
    private final BatchLimits limits;
    private final ListenerNotifier listeners;
    private final BatchWorkers workers;
    private final ItemQueue<I, O> queue;

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
        this.queue = new ItemQueue<>(limits);
        this.workers = new BatchWorkers(threads, name, limits.atOnce(), databaseThreads, this);
    }

    /** Submits a request. A worker thread completes the future. */
    CompletableFuture<O> submitAsync(I request) {
        CompletableFuture<O> answer = queue.add(item(request));
        workers.signal();
        return answer;
    }

    private BatchItem<I, O> item(I request) {
        return new BatchItem<>(request, limits.lockWait());
    }

    /**
     * Begins a transaction for a single request on the calling thread. To be ended by {@link #endInCaller}.
     *
     * @return null when another batch is in flight, or the calling thread must not use the database
     */
    @Nullable BatchItem<I, O> beginInCaller(I request) {
        BatchItem<I, O> item = item(request);
        if (!workers.beginInCaller()) {
            return null;
        }
        queue.beginWaiting();
        return item;
    }

    /** Handles the failure of an item on the calling thread: a worker tries it again, or it is answered by the failure. */
    void failedInCaller(BatchItem<I, O> item, Throwable failure) {
        failed(List.of(item), failure);
    }

    /** Ends what {@link #beginInCaller} began. */
    void endInCaller() {
        queue.finishWaiting();
        workers.endInCaller();
    }

    /** Waits for the answer, and rethrows its failure as an exception of the calling thread. Ignores interrupts. */
    static <O> O await(CompletableFuture<O> answer) {
        try {
            return answer.join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /**
     * Submits a request to be {@linkplain #takePiggyBacked piggy-backed} on another transaction. If that transaction does not
     * serve it, it is served as if it had been {@linkplain #submitAsync submitted}.
     *
     * @param submitted runs as soon as the request can be taken
     */
    CompletableFuture<O> submitPiggyBacked(I request, Runnable submitted) {
        CompletableFuture<O> answer = queue.addPiggyBacked(item(request));
        submitted.run();
        return answer;
    }

    /** Whether there are requests to be piggy-backed on another transaction. */
    boolean hasPiggyBacked() {
        return queue.hasPiggyBacked();
    }

    /** Takes the requests to be piggy-backed on another transaction, whose outcome is to be reported. */
    List<BatchItem<I, O>> takePiggyBacked() {
        return queue.takePiggyBacked();
    }

    /** Reports that the other transaction was committed: the answers, in order; null for a request that it did not serve. */
    void piggyBackedDone(List<BatchItem<I, O>> taken, List<@Nullable O> answers) {
        answer(taken, answers);
        signalIfAny();
    }

    /**
     * Reports that the other transaction has failed: nothing was done, or its outcome is unknown.
     *
     * @return whether something is tried again
     */
    boolean piggyBackedFailed(List<BatchItem<I, O>> taken, Throwable failure) {
        if (isOfConnection(failure)) {
            taken.forEach(item -> failed(item, taken.size(), failure));
        } else { // whichever statement failed, these requests are better served by a transaction of their own
            taken.forEach(item -> tryAgain(item, Duration.ZERO));
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
        return queue.nanosToWork();
    }

    @Override
    public void run(boolean unused) {
        ItemQueue.Batch<I, O> batch = queue.take();
        if (batch.items().isEmpty()) {
            return;
        }
        try {
            if (batch.waits()) {
                BatchItem<I, O> single = batch.items().get(0);
                single.answer().complete(work.runOne(single.request()));
            } else {
                List<I> requests =
                        batch.items().stream().map(BatchItem::request).toList();
                answer(batch.items(), work.run(requests, batch.isLockedLikely()));
            }
        } catch (RuntimeException | Error failure) {
            failed(batch.items(), failure);
        } finally {
            if (batch.waits()) {
                queue.finishWaiting();
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

    /** Another transaction has locked a row of the item. Between the attempts it holds neither a connection nor a lock. */
    private void blocked(BatchItem<I, O> item, @Nullable Throwable failure) {
        if (item.isBlockedForTooLong()) {
            item.answer()
                    .completeExceptionally(
                            new CannotAcquireLockException(work.lockedFor(item.request(), limits.lockWait()), failure));
        } else {
            tryAgain(item, item.block());
        }
    }

    /** Whether the connection failed, so that no item is the cause. */
    private static boolean isOfConnection(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException || SemaphorePersistence.isUnreachable(failure);
    }

    private void failed(BatchItem<I, O> item, int batchSize, Throwable failure) {
        boolean locked = SqlErrors.isConflict(failure) && !SqlErrors.isVictim(failure);
        if (batchSize > 1 && locked) {
            tryAgain(item, item.block());
        } else if (batchSize > 1 && !isOfConnection(failure)) {
            item.isolate();
            tryAgain(item, Duration.ZERO);
        } else if (locked) {
            blocked(item, failure);
        } else {
            int attempts = item.failed();
            if (RetryLimit.remain(failure, attempts, limits.maxAttempts(), System.nanoTime() - item.startedAt())) {
                tryAgain(item, BackOff.RETRIES.after(attempts));
            } else {
                item.answer()
                        .completeExceptionally(
                                failure instanceof CommitOutcomeUnknownException unknown
                                        ? unknown.translatedCause()
                                        : failure);
            }
        }
    }

    private void tryAgain(BatchItem<I, O> item, Duration pause) {
        item.pauseFor(pause);
        CompletableFuture<O> unused = queue.add(item);
    }

    /** Lets the workers end when all requests are served. Requests submitted later are served while the database is there. */
    @Override
    public void close() {
        workers.close();
    }
}
