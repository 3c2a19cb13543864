package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.BackOff;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.persistence.unit.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Settles one transaction of acquires and releases: decides the outcome of each of them.
 *
 * <p><b>An acquire</b> is answered, waits for permits, or is tried again. If a member may have caused the failure of its batch, all members
 * are tried again one by one, so that only the caller with the faulty acquire sees the failure. After a {@linkplain ConflictBackOff
 * conflict}, or while the database is unreachable, no member is the cause: they may share a batch again, because smaller batches would
 * conflict more often. After some conflicts, a caller that does not wait is tried alone, in case another member causes them.
 *
 * <p><b>A release</b> is answered, or tried again by a transaction of releases only. If a transaction of several releases failed with its
 * connection intact, each is tried alone. If another transaction has locked the grant, the release pauses first.
 *
 * <p><b>An unknown outcome.</b> After a commit that was not answered, every claimed acquire may have been granted. It is marked
 * ({@link Acquire#isOutcomeUnknown}), and keeps its claim, until another attempt has found the outcome. It is tried again even if the queue
 * is closed or the acquire cancelled, and is not answered with an earlier refusal. If an attempt finds a row locked, perhaps by the lost
 * transaction, the claim ends, and the acquire can be withdrawn and undone.
 *
 * <p>If no attempt follows, the grant has to be undone: by the caller, or for an {@linkplain Acquire#isAbandoned abandoned} acquire by the
 * thread that ran the transaction ({@link Result#toUndo}).
 *
 * <p>The acquires and releases to be tried again return to the queue. The thread that ran the transaction passes on the answers, without the
 * lock.
 *
 * <p>{@code RetriesIntegrationTests} and {@code WorkQueueScheduleTests} test it.
 */
final class Settlement {

    /**
     * No attempt starts with less time left than this. On InnoDB a statement can wait up to 2 s for a lock, because the limit of 1 s
     * ({@code Sessions.MAX_LOCK_WAIT}) is checked once a second. That wait must end before {@link AcquireDeadlines#BEING_WRITTEN} does.
     */
    private static final Duration LAST_WRITE = Duration.ofMillis(1600);

    private final ReadyQueue ready;
    private final WaitingLines lines;
    private final LineRoom room;
    private final ConflictBackOff backOff;
    private final BatchLimits limits;
    private final boolean closed;
    private final QueueClock clock;
    private final Map<Acquire, Runnable> answers = new LinkedHashMap<>();
    private final Map<Release, Runnable> releaseAnswers = new LinkedHashMap<>();
    private final List<Acquire> toUndo = new ArrayList<>();
    private final List<Release> releasesToRetry = new ArrayList<>();
    private final List<Release> doneReleases = new ArrayList<>();
    private boolean metLockedRow;

    /**
     * The work to be done without the lock, for which woken callers would contend.
     *
     * @param acquires the decided acquires, each with the action that answers its caller
     * @param toUndo the acquires that may have been granted to callers that no longer wait
     * @param releases the decided releases, likewise
     * @param woken whether waiting acquires are ready to be tried; a thread that runs acquires finds them anyway
     */
    record Result(
            Map<Acquire, Runnable> acquires, List<Acquire> toUndo, Map<Release, Runnable> releases, boolean woken) {}

    /**
     * Begins the settlement.
     *
     * @param closed whether the queue is closed, so that acquires are not tried again
     */
    Settlement(
            ReadyQueue ready,
            WaitingLines lines,
            LineRoom room,
            ConflictBackOff backOff,
            BatchLimits limits,
            boolean closed,
            QueueClock clock) {
        this.ready = ready;
        this.lines = lines;
        this.room = room;
        this.backOff = backOff;
        this.limits = limits;
        this.closed = closed;
        this.clock = clock;
    }

    Result result(boolean woken) {
        return new Result(answers, toUndo, releaseAnswers, woken);
    }

    /** Whether another transaction had locked the row of a semaphore. */
    boolean hasMetLockedRow() {
        return metLockedRow;
    }

    /** The releases that have released their grants. */
    List<Release> doneReleases() {
        return doneReleases;
    }

    List<Release> releasesToRetry() {
        return releasesToRetry;
    }

    void settle(Batch batch, BatchResult result, long epoch) {
        List<GrantOutcome> outcomes = result.outcomes();
        for (int i = 0; i < outcomes.size(); i++) {
            Acquire acquire = batch.members().get(i);
            if (acquire.isInBatch()) {
                settle(acquire, new Acquire.Answer(outcomes.get(i), batch.startedAt(), epoch), result);
            }
        }
        settleReleases(batch.releases(), result.released());
    }

    private void settle(Acquire acquire, Acquire.Answer answer, BatchResult result) {
        GrantOutcome outcome = answer.outcome();
        if (outcome instanceof GrantOutcome.Postponed postponed) {
            postpone(acquire, postponed.name());
            return;
        }
        if (outcome instanceof GrantOutcome.Undecided) {
            acquire.unclaim();
            if (acquire.isCancelled()) {
                endWith(acquire, new CancellationException("The acquire was cancelled"));
            } else {
                tryAgain(acquire, Duration.ZERO, null);
            }
            return;
        }
        acquire.found(acquire.attempt().decided());
        if (outcome instanceof GrantOutcome.Granted) {
            if (acquire.isAbandoned()) {
                toUndo.add(acquire);
            }
            answer(acquire, answer);
            return;
        }
        acquire.unclaim();
        if (outcome instanceof GrantOutcome.Refused refused) {
            acquire.found(acquire.attempt().refused(refused.shortages()));
            lines.recordRefusal(refused.shortages());
            acquire.setPostponedUntil(null);
            if (refused.isByFullLine()) { // no instance was told of it
                answer(acquire, estimated(refused, answer));
                return;
            }
            if (acquire.isWillingToWait()) {
                waitOrTryAgain(acquire, result);
                return;
            }
            departed(acquire);
            answer(acquire, estimated(refused, answer));
            return;
        }
        departed(acquire);
        answer(acquire, answer);
    }

    /** The refusal with the time that the caller would have waited longer, as far as that is known. */
    private Acquire.Answer estimated(GrantOutcome.Refused refused, Acquire.Answer answer) {
        return new Acquire.Answer(
                new GrantOutcome.Refused(lines.estimated(refused.shortages())), answer.asOf(), answer.epoch());
    }

    /** Adds a refused acquire to the lines. If others have taken the room since the transaction began, the next one decides again. */
    private void waitOrTryAgain(Acquire acquire, BatchResult result) {
        if (room.isLeftFor(acquire)) {
            lines.park(acquire, result.availability(), result.answeredAt());
            acquire.moveTo(Acquire.Stage.LINE); // last: if parking fails, the acquire is answered with the batch
        } else {
            tryAgain(acquire, Duration.ZERO, null);
        }
    }

    private void answer(Acquire acquire, Acquire.Answer answer) {
        acquire.moveTo(Acquire.Stage.DONE);
        answers.put(acquire, () -> acquire.answer().complete(answer));
    }

    /** Records that a caller has left: other instances may believe that it waits. */
    private void departed(Acquire acquire) {
        if (acquire.hasWaitTime()) {
            lines.recordDeparted(acquire.names());
        }
    }

    /**
     * Answers with a failure. A grant that may exist is undone by the caller, or for an abandoned acquire by the thread of the batch, in
     * the background.
     */
    private void answer(Acquire acquire, RuntimeException failure) {
        if (acquire.isAbandoned() && acquire.isOutcomeUnknown()) {
            toUndo.add(acquire);
        }
        departed(acquire);
        acquire.moveTo(Acquire.Stage.DONE);
        answers.put(acquire, () -> acquire.answer().completeExceptionally(failure));
    }

    /**
     * Postpones an acquire whose row another transaction has locked or deleted. A later batch waits for the row, or tries again, for a
     * limited time.
     */
    private void postpone(Acquire acquire, String name) {
        acquire.unclaim();
        if (acquire.attempt().blockedBy() != null) { // the first time, the next batch may wait for the row at once
            backOff.locked(name);
        }
        acquire.found(acquire.attempt().postponed(name));
        metLockedRow = true;
        tryAgainAfterLock(acquire, clock.in(limits.lockWait()), Duration.ZERO, null);
    }

    /** Tries an acquire again after its transaction has waited for a lock in vain, unless its caller no longer waits. */
    private void hasWaitedForLock(Acquire acquire, Batch batch, Duration pause, Failure failure) {
        if ((acquire.hasWaitTime() && !acquire.isWillingToWait()) || acquire.isCancelled()) {
            endWith(acquire, acquire.locked(reported(failure)));
        } else {
            tryAgainAfterLock(acquire, Deadline.after(batch.startedAt(), limits.lockWait()), pause, failure);
        }
    }

    /** Answers a caller whose last attempt has failed: with its last refusal, if there is one, otherwise with the failure. */
    private void endWith(Acquire acquire, RuntimeException failure) {
        Acquire.Answer refusal = acquire.lastRefusal();
        if (refusal == null || acquire.isOutcomeUnknown()) {
            answer(acquire, failure);
        } else {
            departed(acquire);
            answer(acquire, refusal);
        }
    }

    /** Tries again, for a limited time, an acquire that met a lock. */
    private void tryAgainAfterLock(Acquire acquire, Deadline firstUntil, Duration pause, @Nullable Failure cause) {
        if (acquire.postponedUntil() == null) {
            acquire.setPostponedUntil(firstUntil);
        }
        long remaining = clock.remainingNanos(Objects.requireNonNull(acquire.postponedUntil()));
        // an acquire that waits for a lock while it writes cannot be withdrawn, so its last statement has to end in
        // time
        long toDecide = clock.remainingNanos(acquire.deadline().plus(limits.decisionTimeout()));
        boolean endsEarly = acquire.attempt().isWriteBlocked()
                && !acquire.hasWaitTime()
                && Math.min(remaining, toDecide) <= LAST_WRITE.toNanos();
        if (remaining <= 0 || endsEarly) {
            acquire.setPostponedUntil(null);
            RuntimeException failure = acquire.locked(cause == null ? null : reported(cause));
            if (failed(acquire, failure, cause != null && cause.isVictim()) >= limits.maxAttempts()
                    || !isInTime(acquire)
                    || endsEarly) {
                answer(acquire, failure);
                return;
            }
        }
        tryAgain(acquire, pause, cause == null ? null : reported(cause));
    }

    /**
     * Settles a batch whose transaction has failed.
     *
     * @param reached whether the transaction had a connection
     */
    void settleFailed(Batch batch, Failure failure, boolean reached) {
        for (Release release : batch.releases()) {
            if (batch.isOfReleases() || failure.isUnreachable()) {
                settleFailedRelease(release, batch.releases().size(), failure);
            } else { // whichever statement failed, a transaction of their own is safer
                tryAgain(release, Duration.ZERO);
            }
        }
        boolean unreachable = !reached || failure.isUnreachable();
        boolean written = failure.isLockWait() && batch.members().stream().anyMatch(AcquireState::isClaimed);
        for (Acquire acquire : batch.members()) {
            // in a shared batch the locked rows may have been those of another member
            acquire.found(acquire.attempt()
                    .writeBlocked(failure.isLockWait() && batch.members().size() == 1 && acquire.isClaimed()));
            if (failure.isCommitUnknown() && acquire.isClaimed()) {
                acquire.found(acquire.attempt().unknown());
            } else if (!acquire.isOutcomeUnknown()) {
                acquire.unclaim();
            }
            if (acquire.isInBatch()) {
                tryAgainOrAnswer(acquire, batch, failure, unreachable, written);
            }
        }
    }

    private static RuntimeException reported(Failure failure) {
        return failure.forCaller() instanceof RuntimeException exception
                ? exception
                : new IllegalStateException("A grant failed: " + failure.cause(), failure.cause());
    }

    /**
     * Tries an acquire again after a failure, or answers it.
     *
     * @param written whether the transaction held the rows of the semaphores while it waited for a lock in vain. Others then get some time
     *     with these rows before the acquire is tried again
     */
    private void tryAgainOrAnswer(Acquire acquire, Batch batch, Failure failure, boolean unreachable, boolean written) {
        boolean shared = batch.members().size() > 1;
        boolean conflict = failure.isVictim() && !written;
        boolean mayBeCausedByAnother = shared && !unreachable;
        if (failure.isLockWait() && (!shared || (batch.awaitsRow() && !written))) {
            metLockedRow = true;
            hasWaitedForLock(
                    acquire, batch, written ? Duration.ofMillis(250 + clock.random(250)) : Duration.ZERO, failure);
        } else if ((conflict || !mayBeCausedByAnother) && isWorthAnotherAttempt(acquire, failure, unreachable)) {
            if (conflict && !acquire.hasWaitTime() && acquire.attempt().failures() >= limits.maxAttempts()) {
                acquire.found(acquire.attempt().isolated());
            }
            tryAgain(
                    acquire,
                    conflict
                            ? Duration.ZERO
                            : BackOff.RETRIES.after(acquire.attempt().failures(), clock::random),
                    reported(failure));
        } else if (mayBeCausedByAnother) {
            acquire.found(acquire.attempt().isolated());
            tryAgain(acquire, Duration.ZERO, null);
        } else {
            answer(acquire, reported(failure));
        }
    }

    /** Counts a failed attempt, and returns the number so far. */
    private static int failed(Acquire acquire, RuntimeException failure, boolean isConflict) {
        acquire.found(acquire.attempt().failed(failure, isConflict));
        return acquire.attempt().failures();
    }

    private boolean isWorthAnotherAttempt(Acquire acquire, Failure failure, boolean unreachable) {
        int attempts = failed(acquire, reported(failure), failure.isVictim());
        boolean waits = acquire.isWillingToWait() && !clock.isPassed(acquire.deadline());
        if (failure.isVictim()) { // as often as AcquireDeadlines permits
            return waits || limits.maxAttempts() > 1;
        }
        long elapsed = clock.now() - acquire.queuedAt();
        return (waits && unreachable) || failure.retriesRemain(attempts, limits.maxAttempts(), elapsed, Duration.ZERO);
    }

    /** Whether less than the maximum wait for row locks has passed since the wait for permits ended. */
    private boolean isInTime(Acquire acquire) {
        return acquire.isWillingToWait() || !clock.isPassed(acquire.deadline().plus(limits.lockWait()));
    }

    /**
     * Tries an acquire again after a pause, or answers it if it must not be tried again.
     *
     * @param failure the failure of the last attempt; null if another member may have caused it
     */
    private void tryAgain(Acquire acquire, Duration pause, @Nullable RuntimeException failure) {
        if (acquire.isAbandoned()) {
            answer(acquire, new CancellationException("The acquire was abandoned by its caller"));
        } else if (closed && !acquire.isOutcomeUnknown()) {
            answer(acquire, new SemaphoreClosedException());
        } else if (failure != null && acquire.isCancelled()) {
            endWith(acquire, failure);
        } else {
            acquire.pauseUntil(clock.in(pause));
            lines.resolveArrival(acquire);
            ready.add(acquire);
        }
    }

    private void settleReleases(List<Release> releases, Map<Long, ReleaseOutcome> outcomes) {
        Set<Long> seen = new HashSet<>();
        for (Release release : releases) {
            ReleaseOutcome outcome = outcomes.get(release.requestId());
            boolean first = seen.add(release.requestId()); // a second release of the same grant has no effect
            if (outcome == null) {
                releaseLocked(release, null);
            } else {
                ReleaseOutcome done = first ? release.outcome(outcome) : ReleaseOutcome.ALREADY_RELEASED;
                releaseAnswers.put(release, () -> release.answer().complete(done));
                if (done == ReleaseOutcome.RELEASED) {
                    doneReleases.add(release);
                }
            }
        }
    }

    private void settleFailedRelease(Release release, int batchSize, Failure failure) {
        if (failure.isCommitUnknown()) {
            release.setOutcomeUnknown();
        }
        if (failure.isLockWait() || failure.isOtherConflict()) {
            releaseLocked(release, failure.cause());
        } else if (batchSize > 1 && !failure.isUnreachable()) {
            release.isolate();
            tryAgain(release, Duration.ZERO);
        } else {
            int attempts = release.failed();
            long elapsed = clock.now() - release.startedAt();
            if (failure.retriesRemain(attempts, limits.maxAttempts(), elapsed, limits.lockWait())) {
                tryAgain(release, BackOff.RETRIES.after(attempts, clock::random));
            } else {
                answer(release, failure.forCaller());
            }
        }
    }

    /** Tries a release with a locked row again later. Meanwhile it holds neither a connection nor a lock. */
    private void releaseLocked(Release release, @Nullable Throwable failure) {
        if (clock.isPassed(Deadline.after(release.startedAt(), limits.lockWait()))) {
            answer(
                    release,
                    new CannotAcquireLockException(
                            ("The grant '%s' on %s was not released yet: another transaction has locked it or its permits for %s, as"
                                            + " requireHeld does. Its release is retried in the background")
                                    .formatted(
                                            release.grant().externalId(),
                                            release.grant().counts(),
                                            limits.lockWait()),
                            failure));
        } else {
            tryAgain(release, release.block());
        }
    }

    private void answer(Release release, Throwable failure) {
        releaseAnswers.put(release, () -> release.answer().completeExceptionally(failure));
    }

    private void tryAgain(Release release, Duration pause) {
        release.pauseFor(pause);
        releasesToRetry.add(release);
    }

    /** Answers all callers after an unexpected error, so that none waits for ever. Grants that may have been made have to be undone. */
    void answerAll(Batch batch, Throwable unexpected) {
        batch.members().stream().filter(Acquire::isInBatch).forEach(acquire -> {
            if (acquire.isClaimed()) {
                acquire.found(acquire.attempt().unknown());
            }
            answer(acquire, new IllegalStateException("A grant failed: " + unexpected, unexpected));
        });
        batch.releases().stream()
                .filter(release -> !releaseAnswers.containsKey(release) && !releasesToRetry.contains(release))
                .forEach(release -> answer(release, unexpected));
    }
}
