package io.dbsemaphore.engine;

import io.dbsemaphore.PermitManager.AcquireResult;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.support.CallerExceptions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Acquires permits, for a calling thread that waits for the result, or without a thread that waits. */
final class AcquireService {

    private static final Logger log = LoggerFactory.getLogger(AcquireService.class);

    private final AdmissionGate gate;
    private final GroupCommit commit;
    private final PatternSemaphoreCreator patterns;
    private final ReuseService reuse;
    private final UnknownOutcomes outcomes;
    private final AcquireResults results;
    private final Executor completions;

    /**
     * Acquires for the callers of one run.
     *
     * @param completions its threads may be blocked by code of the application
     */
    AcquireService(
            AdmissionGate gate,
            GroupCommit commit,
            PatternSemaphoreCreator patterns,
            ReuseService reuse,
            UnknownOutcomes outcomes,
            AcquireResults results,
            Executor completions) {
        this.gate = gate;
        this.commit = commit;
        this.patterns = patterns;
        this.reuse = reuse;
        this.outcomes = outcomes;
        this.results = results;
        this.completions = completions;
    }

    /**
     * Acquires permits as soon as they are available within the wait time. Missing semaphores that match a pattern are created
     * first.
     *
     * @throws io.dbsemaphore.SemaphoreClosedException when closed
     * @throws io.dbsemaphore.AcquireInterruptedException when interrupted before the acquire was decided; nothing is held
     * @throws RuntimeException when the acquire failed; nothing is held, unless this is an
     *     {@link io.dbsemaphore.AcquireOutcomeUnknownException}
     */
    AcquireResult acquire(Acquire first) {
        gate.enter();
        Acquire acquire = first;
        try {
            Acquire.Answer answer = commit.acquire(acquire);
            int created = 0;
            while (reuse.isOutdated(acquire, answer)
                    || (created++ < PatternSemaphoreCreator.MAX_REPEATED && isCreated(answer))) {
                acquire = acquire.again();
                answer = commit.acquire(acquire);
            }
            return results.of(acquire, answer);
        } catch (RuntimeException | Error failure) {
            throw outcomes.resolve(acquire, failure);
        } finally {
            gate.exit();
        }
    }

    /** Creates missing semaphores; false if that was not the reason of the answer. */
    private boolean isCreated(Acquire.Answer answer) {
        CompletableFuture<?> creation = patterns.createMissing(answer);
        if (creation == null) {
            return false;
        }
        try {
            @Nullable Object unused = Uninterruptibles.get(creation);
            return true;
        } catch (ExecutionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /**
     * As {@link #acquire}. The caller may complete or cancel the future at any time: a waiting acquire is removed from the queue,
     * and one that is granted nevertheless is released.
     *
     * @return a future that is completed on a thread that code of the application may block
     * @throws io.dbsemaphore.SemaphoreClosedException when closed
     */
    CompletableFuture<AcquireResult> acquireAsync(Acquire acquire) {
        gate.enter();
        AsyncAcquire async = new AsyncAcquire(acquire);
        async.begin();
        return async.result;
    }

    /** Runs a completion here if the engine has stopped meanwhile: without it the acquire would never end. */
    private void complete(Runnable completion) {
        try {
            completions.execute(completion);
        } catch (RejectedExecutionException stopped) {
            completion.run();
        }
    }

    /** One acquire in progress for which no thread waits. */
    private final class AsyncAcquire {

        private final CompletableFuture<AcquireResult> result = new CompletableFuture<>();
        private Acquire acquire;
        private int created;

        AsyncAcquire(Acquire acquire) {
            this.acquire = acquire;
        }

        void begin() {
            try {
                CompletableFuture<?> prepared = reuse.prepareAsync(acquire);
                if (prepared.isDone()) {
                    submit();
                } else {
                    CompletableFuture<?> unused = prepared.whenCompleteAsync(
                            (none, failure) -> takeOrSubmit(), AcquireService.this::complete);
                }
            } catch (RuntimeException | Error failure) {
                fail(failure);
            }
        }

        /** A permit may have become idle while other permits were being returned. */
        private void takeOrSubmit() {
            AcquireResult reused;
            try {
                reused = reuse.takeNow(acquire.call().request());
            } catch (RuntimeException | Error failure) {
                fail(failure);
                return;
            }
            if (reused == null) {
                submit();
            } else {
                end(reused);
            }
        }

        private void submit() {
            try {
                Acquire submitted = acquire;
                commit.submit(submitted);
                CompletableFuture<?> unused =
                        submitted.answer().whenCompleteAsync(this::decided, AcquireService.this::complete);
                // no effect once the acquire is answered, for example if that answer completes the result
                CompletableFuture<?> unusedToo =
                        result.whenComplete((ended, failure) -> commit.withdraw(submitted));
            } catch (RuntimeException | Error failure) {
                fail(failure);
            }
        }

        private void submitAgain() {
            acquire = acquire.again();
            submit();
        }

        private void decided(Acquire.@Nullable Answer answer, @Nullable Throwable failure) {
            AcquireResult outcome;
            try {
                if (answer == null) {
                    throw outcomes.resolve(acquire, CallerExceptions.of(cause(failure)));
                }
                if (!result.isDone() && reuse.isOutdated(acquire, answer)) {
                    submitAgain();
                    return;
                }
                CompletableFuture<?> creation = result.isDone() || created++ >= PatternSemaphoreCreator.MAX_REPEATED
                        ? null
                        : patterns.createMissing(answer);
                if (creation != null) {
                    CompletableFuture<?> unused =
                            creation.whenCompleteAsync(this::tryAgain, AcquireService.this::complete);
                    return;
                }
                outcome = results.of(acquire, answer);
            } catch (RuntimeException | Error failed) {
                fail(failed);
                return;
            }
            end(outcome);
        }

        /** Missing semaphores have been created. */
        private void tryAgain(@Nullable Object none, @Nullable Throwable failure) {
            if (failure == null) {
                submitAgain();
            } else {
                fail(CallerExceptions.of(cause(failure)));
            }
        }

        /** Leaves the gate first: the application's code runs where the result is completed, and a stop need not wait for it. */
        private void end(AcquireResult outcome) {
            gate.exit();
            if (!result.complete(outcome) && outcome instanceof AcquireResult.Granted unwanted) {
                try {
                    unwanted.grant().release();
                } catch (RuntimeException failure) {
                    log.debug("{} is released in the background", unwanted.grant(), failure);
                }
            }
        }

        private void fail(Throwable failure) {
            gate.exit();
            boolean unused = result.completeExceptionally(failure);
        }

        private static @Nullable Throwable cause(@Nullable Throwable failure) {
            return failure instanceof CompletionException ? failure.getCause() : failure;
        }
    }
}
