package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.GrantOutcome;

/**
 * The answer to an acquire.
 *
 * @param asOf this JVM's monotonic clock before the transaction that decided the acquire
 * @param epoch the lease epoch of this instance before that transaction
 */
public record AcquireAnswer(GrantOutcome outcome, long asOf, long epoch) {}
