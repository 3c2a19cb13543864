package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreException;
import java.util.List;

/** The outcome of one acquire of a batch. */
public sealed interface GrantOutcome {

    /** Whether the transaction has decided about the acquire. */
    default boolean isDecision() {
        return !(this instanceof Postponed || this instanceof Withdrawn || this instanceof Undecided);
    }

    /**
     * The permits are held.
     *
     * @param replayed whether an earlier acquire made the grant
     */
    record Granted(StoredGrant grant, boolean replayed) implements GrantOutcome {}

    /**
     * A permit that this JVM holds was handed over, without a transaction.
     *
     * @param externalId the external id of the request by which this JVM acquired the permit
     */
    record HandedOver(String externalId) implements GrantOutcome {}

    /** The attempt in one round trip has changed nothing: another attempt decides. */
    record Undecided() implements GrantOutcome {}

    /** Too few permits were available; waiting may help. */
    record Refused(List<PermitShortage> shortages) implements GrantOutcome {

        /** Whether the caller must not wait, because enough others do. */
        public boolean isByFullLine() {
            return shortages.stream().anyMatch(PermitShortage::isQueueFull);
        }
    }

    /**
     * Not decided, because another transaction has locked or deleted a row. A later batch may wait for the row.
     *
     * @param name the semaphore whose row it is
     */
    record Postponed(String name) implements GrantOutcome {}

    /** Not decided, because the caller has withdrawn the acquire. */
    record Withdrawn() implements GrantOutcome {}

    /** Waiting does not help. */
    record Rejected(SemaphoreException reason) implements GrantOutcome {}
}
