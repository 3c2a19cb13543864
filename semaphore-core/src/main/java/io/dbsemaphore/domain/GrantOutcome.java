package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreException;
import java.util.List;

/** What became of one order of a batch. */
public sealed interface GrantOutcome {

    /**
     * The permits are held.
     *
     * @param replayed whether an earlier acquire made the grant
     */
    record Granted(StoredGrant grant, boolean replayed) implements GrantOutcome {}

    /** There was no room; waiting may help. */
    record Refused(List<PermitShortage> shortages) implements GrantOutcome {}

    /**
     * Not tried, since a row is locked by somebody else or gone; another transaction may wait for it.
     *
     * @param name of the semaphore whose row it is
     */
    record Postponed(String name) implements GrantOutcome {}

    /** Not tried, since whoever wanted it does not any more. */
    record Withdrawn() implements GrantOutcome {}

    /** Waiting does not help. */
    record Rejected(SemaphoreException reason) implements GrantOutcome {}
}
