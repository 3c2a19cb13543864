package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.persistence.GrantOrder;
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
final class AsyncAcquires {

    private static final Logger log = LoggerFactory.getLogger(AsyncAcquires.class);

    private final Intake intake;
    private final PatternSemaphores patterns;
    private final Granter granter;
    private final Executor completions;

    AsyncAcquires(Intake intake, PatternSemaphores patterns, Granter granter, Executor completions) {
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
    CompletableFuture<AcquireResult> begin(GrantOrder order, Wait wait, Function<Grants.Answer, AcquireResult> settle) {
        intake.enter();
        Acquire acquire = new Acquire(order, wait, settle);
        acquire.submit();
        return acquire.result;
    }

    /** One acquire on its way. */
    private final class Acquire {

        private final GrantOrder order;
        private final Wait wait;
        private final Function<Grants.Answer, AcquireResult> settle;
        private final CompletableFuture<AcquireResult> result = new CompletableFuture<>();

        Acquire(GrantOrder order, Wait wait, Function<Grants.Answer, AcquireResult> settle) {
            this.order = order;
            this.wait = wait;
            this.settle = settle;
        }

        void submit() {
            try {
                Grants.Submission submission = granter.submit(order, wait);
                CompletableFuture<?> told = submission.answer().whenCompleteAsync(this::decided, completions);
                // without effect where it has its answer, as when it is that which ends the result
                CompletableFuture<?> withdrawn = result.whenComplete((ended, failure) -> submission.withdraw());
            } catch (RuntimeException | Error failure) {
                fail(failure);
            }
        }

        private void decided(Grants.@Nullable Answer answer, @Nullable Throwable failure) {
            AcquireResult outcome;
            try {
                if (answer == null) {
                    throw granter.failure(order, wait, CallerFailures.of(cause(failure)));
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
