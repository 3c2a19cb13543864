package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.engine.batch.AcquireAnswer;
import io.dbsemaphore.engine.batch.BatchingGranter;

/** Acquires permits for a calling thread that waits for the result. */
final class AcquireService {

    private final AdmissionGate gate;
    private final BatchingGranter granter;
    private final PatternSemaphoreCreator patterns;
    private final ReuseService reuse;
    private final UnknownOutcomes outcomes;
    private final AcquireResults results;

    AcquireService(
            AdmissionGate gate,
            BatchingGranter granter,
            PatternSemaphoreCreator patterns,
            ReuseService reuse,
            UnknownOutcomes outcomes,
            AcquireResults results) {
        this.gate = gate;
        this.granter = granter;
        this.patterns = patterns;
        this.reuse = reuse;
        this.outcomes = outcomes;
        this.results = results;
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
    AcquireResult acquire(AcquireAttempt attempt) {
        gate.enter();
        try {
            AcquireAnswer answer = granter.grant(attempt.state(), attempt.waitTime());
            int created = 0;
            while (reuse.isOutdated(attempt, answer)
                    || (created++ < PatternSemaphoreCreator.MAX_REPEATED && patterns.createMissing(answer))) {
                answer = granter.grant(attempt.state(), attempt.waitTime());
            }
            return results.of(attempt, answer);
        } catch (RuntimeException | Error failure) {
            throw outcomes.resolve(attempt.state(), attempt.waitTime(), failure);
        } finally {
            gate.exit();
        }
    }
}
