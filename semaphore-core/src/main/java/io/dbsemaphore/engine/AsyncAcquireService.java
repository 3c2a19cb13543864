package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.engine.batch.Granter;
import io.dbsemaphore.engine.batch.WaitTime;
import io.dbsemaphore.engine.support.CallerExceptions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires without a thread that waits. The future may be ended at any time by whoever has it: an acquire that waits leaves
 * the queue, and one that is granted nevertheless is released.
 */
final class AsyncAcquireService {

    private static final Logger log = LoggerFactory.getLogger(AsyncAcquireService.class);

    private final AdmissionGate intake;
    private final PatternSemaphoreCreator patterns;
    private final AcquireService granter;
    private final Executor completions;

    AsyncAcquireService(
            AdmissionGate intake, PatternSemaphoreCreator patterns, AcquireService granter, Executor completions) {
        this.intake = intake;
        this.patterns = patterns;
        this.granter = granter;
        this.completions = completions;
    }

    /**
     * Begins to acquire.
     *
     * @param settle makes the result of what was decided
     * @return completed on a thread that code of the application may block
     * @throws io.dbsemaphore.SemaphoreClosedException when closed
     */
    CompletableFuture<AcquireResult> begin(
            AcquireCommand command, WaitTime wait, Function<Granter.Answer, AcquireResult> settle) {
        intake.enter();
        Acquire acquire = new Acquire(command, wait, settle);
        acquire.submit();
        return acquire.result;
    }

    /** One acquire on its way. */
    private final class Acquire {

        private final AcquireCommand command;
        private final WaitTime wait;
        private final Function<Granter.Answer, AcquireResult> settle;
        private final CompletableFuture<AcquireResult> result = new CompletableFuture<>();

        Acquire(AcquireCommand command, WaitTime wait, Function<Granter.Answer, AcquireResult> settle) {
            this.command = command;
            this.wait = wait;
            this.settle = settle;
        }

        void submit() {
            try {
                Granter.Submission submission = granter.submit(command, wait);
                CompletableFuture<?> told = submission.answer().whenCompleteAsync(this::decided, completions);
                // without effect where it has its answer, as when it is that which ends the result
                CompletableFuture<?> withdrawn = result.whenComplete((ended, failure) -> submission.withdraw());
            } catch (RuntimeException | Error failure) {
                fail(failure);
            }
        }

        private void decided(Granter.@Nullable Answer answer, @Nullable Throwable failure) {
            AcquireResult outcome;
            try {
                if (answer == null) {
                    throw granter.failure(command, wait, CallerExceptions.of(cause(failure)));
                }
                if (!result.isDone() && patterns.makesMissing(answer)) {
                    submit();
                    return;
                }
                outcome = settle.apply(answer);
            } catch (RuntimeException | Error failed) {
                fail(failed);
                return;
            }
            end(outcome);
        }

        private void end(AcquireResult outcome) {
            intake.leave();
            if (!result.complete(outcome) && outcome instanceof AcquireResult.Granted unwanted) {
                try {
                    unwanted.grant().release();
                } catch (RuntimeException failure) {
                    log.debug("{} is released in the background", unwanted.grant(), failure);
                }
            }
        }

        private void fail(Throwable failure) {
            intake.leave();
            boolean unused = result.completeExceptionally(failure);
        }

        private @Nullable Throwable cause(@Nullable Throwable failure) {
            return failure instanceof CompletionException ? failure.getCause() : failure;
        }
    }
}
