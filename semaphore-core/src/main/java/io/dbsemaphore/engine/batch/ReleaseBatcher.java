package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.BatchTransaction;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Releases grants in batches: one transaction releases the grants of many callers. A batch that fails is tried again release by
 * release, so that only the caller whose release causes a failure sees it.
 */
public final class ReleaseBatcher implements BatchWorkers.Source, AutoCloseable {

    private final ReleaseRunner runner;
    private final BatchLimits limits;
    private final ListenerNotifier listeners;
    private final BatchWorkers workers;
    private final ReleaseQueue queue;

    public ReleaseBatcher(
            BatchTransaction transaction, DaemonThreads threads, BatchLimits limits, ListenerNotifier listeners) {
        this.runner = new ReleaseRunner(transaction);
        this.limits = limits;
        this.listeners = listeners;
        this.queue = new ReleaseQueue(limits);
        this.workers = new BatchWorkers(threads, "semaphore-releases", limits.atOnce(), this);
    }

    /** Starts the threads that release. */
    public void start() {
        workers.start();
    }

    /**
     * Releases a grant, with retries. Ignores interrupts.
     *
     * @param maybeLost whether another instance may have released the grant, since it has expired
     * @throws RuntimeException when it failed
     */
    public ReleaseOutcome release(StoredGrant grant, boolean maybeLost) {
        return await(submitAsync(queued(grant, maybeLost)));
    }

    /** Submits a release. A worker thread completes the future. */
    public CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant) {
        return submitAsync(queued(grant, false));
    }

    private CompletableFuture<ReleaseOutcome> submitAsync(QueuedRelease release) {
        queue.add(release);
        workers.signal();
        return release.answer();
    }

    /**
     * Submits a release to be piggy-backed on the next grant transaction, if that {@linkplain BatchingGranter#acceptsReleases
     * accepts it}. If that transaction does not serve it, it is served as if it had been {@linkplain #submitAsync submitted}. A
     * worker thread completes the future.
     *
     * @param maybeLost whether another instance may have released the grant, since it has expired
     * @param submitted runs as soon as the release can be taken
     */
    public CompletableFuture<ReleaseOutcome> submitPiggyBacked(
            StoredGrant grant, boolean maybeLost, Runnable submitted) {
        QueuedRelease release = queued(grant, maybeLost);
        queue.addPiggyBacked(release);
        submitted.run();
        return release.answer();
    }

    private QueuedRelease queued(StoredGrant grant, boolean maybeLost) {
        return new QueuedRelease(grant, maybeLost, limits.lockWait());
    }

    /** Waits for the outcome, and rethrows a failure as an exception of the calling thread. Ignores interrupts. */
    public static ReleaseOutcome await(CompletableFuture<ReleaseOutcome> outcome) {
        try {
            return outcome.join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /** Whether there are releases to be piggy-backed on a grant transaction. */
    boolean hasPiggyBacked() {
        return queue.hasPiggyBacked();
    }

    /** Takes the releases to be piggy-backed on a grant transaction, whose outcome is to be reported. */
    PiggyBack takePiggyBacked() {
        return new PiggyBack(queue.takePiggyBacked());
    }

    /** The releases that are piggy-backed on one grant transaction. */
    final class PiggyBack {

        private final List<QueuedRelease> taken;

        private PiggyBack(List<QueuedRelease> taken) {
            this.taken = taken;
        }

        /** The ids of the permits, by the id of their request. */
        SortedMap<Long, List<Long>> permitIds() {
            return ReleaseRunner.permitIds(taken);
        }

        int releases() {
            return taken.size();
        }

        /** Reports that the transaction was committed, and the requests that it has released. */
        void done(Set<Long> released) {
            Map<Long, ReleaseOutcome> outcomes = new HashMap<>();
            released.forEach(id -> outcomes.put(id, ReleaseOutcome.RELEASED));
            answer(taken, ReleaseRunner.answers(taken, outcomes));
            signalIfAny();
        }

        /**
         * Reports that the transaction has failed: nothing was done, or its outcome is unknown.
         *
         * @return whether a release is tried again
         */
        boolean failed(Throwable failure) {
            if (isOfConnection(failure)) {
                taken.forEach(release -> ReleaseBatcher.this.failed(release, taken.size(), failure));
            } else { // whichever statement failed, these releases are better served by a transaction of their own
                taken.forEach(release -> tryAgain(release, Duration.ZERO));
            }
            signalIfAny();
            return isAnyUnanswered(taken);
        }
    }

    private void signalIfAny() {
        if (nanosToWork() < Long.MAX_VALUE) {
            workers.signal();
        }
    }

    private static boolean isAnyUnanswered(List<QueuedRelease> releases) {
        return releases.stream().anyMatch(release -> !release.isAnswered());
    }

    @Override
    public long nanosToWork() {
        return queue.nanosToWork();
    }

    @Override
    public void run() {
        ReleaseQueue.Batch batch = queue.take();
        if (batch.releases().isEmpty()) {
            return;
        }
        try {
            if (batch.waits()) {
                QueuedRelease single = batch.releases().get(0);
                single.answer().complete(runner.runOne(single));
            } else {
                answer(batch.releases(), runner.run(batch.releases(), batch.isLockedLikely()));
            }
        } catch (RuntimeException | Error failure) {
            failed(batch.releases(), failure);
        } finally {
            if (batch.waits()) {
                queue.finishWaiting();
            }
        }
    }

    private void answer(List<QueuedRelease> done, List<@Nullable ReleaseOutcome> answers) {
        for (int i = 0; i < answers.size(); i++) {
            QueuedRelease release = done.get(i);
            ReleaseOutcome answer = answers.get(i);
            if (answer == null) {
                blocked(release, null);
            } else {
                release.answer().complete(answer);
            }
        }
    }

    private void failed(List<QueuedRelease> batch, Throwable failure) {
        batch.forEach(release -> failed(release, batch.size(), failure));
        if (isAnyUnanswered(batch)) {
            listeners.tell(listener -> listener.retried(new SemaphoreListener.Retried(failure)));
        }
    }

    /** Another transaction has locked a row. Between the attempts the release holds neither a connection nor a lock. */
    private void blocked(QueuedRelease release, @Nullable Throwable failure) {
        if (release.isBlockedForTooLong()) {
            release.answer().completeExceptionally(new CannotAcquireLockException(lockedFor(release.grant()), failure));
        } else {
            tryAgain(release, release.block());
        }
    }

    private String lockedFor(StoredGrant grant) {
        return ("The grant '%s' on %s was not released yet: another transaction has locked it or its permits for %s, as"
                        + " requireHeld does. Its release is retried in the background")
                .formatted(grant.externalId(), grant.counts(), limits.lockWait());
    }

    /** Whether the connection failed, so that no release is the cause. */
    private static boolean isOfConnection(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException || TransactionFailures.isUnreachable(failure);
    }

    private void failed(QueuedRelease release, int batchSize, Throwable failure) {
        if (failure instanceof CommitOutcomeUnknownException) {
            release.commitSent();
        }
        boolean locked = SqlErrors.isConflict(failure) && !SqlErrors.isVictim(failure);
        if (batchSize > 1 && locked) {
            tryAgain(release, release.block());
        } else if (batchSize > 1 && !isOfConnection(failure)) {
            release.isolate();
            tryAgain(release, Duration.ZERO);
        } else if (locked) {
            blocked(release, failure);
        } else {
            int attempts = release.failed();
            long elapsed = System.nanoTime() - release.startedAt();
            if (RetryLimit.remain(failure, attempts, limits.maxAttempts(), elapsed, limits.lockWait())) {
                tryAgain(release, BackOff.RETRIES.after(attempts));
            } else {
                release.answer()
                        .completeExceptionally(
                                failure instanceof CommitOutcomeUnknownException unknown
                                        ? unknown.translatedCause()
                                        : failure);
            }
        }
    }

    private void tryAgain(QueuedRelease release, Duration pause) {
        release.pauseFor(pause);
        queue.add(release);
    }

    /** Lets the releases in progress complete. Releases submitted later are served while the database is there. */
    @Override
    public void close() {
        workers.close();
    }
}
