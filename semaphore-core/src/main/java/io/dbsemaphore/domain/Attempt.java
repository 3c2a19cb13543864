package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the attempts of one acquire have found out so far.
 *
 * @param failures the number of attempts that failed
 * @param failure the last failure; null if none has failed
 * @param isConflict whether the server rolled that attempt back, in favor of another transaction
 * @param unknownAfter after how many failures the outcome became unknown, since a commit was not answered; -1 if it is known
 * @param isWriteBlocked whether the last attempt locked the rows of the semaphores, but could not write its grant: an open transaction may
 *     have inserted the external id
 * @param blockedBy the semaphore for which the acquire was {@linkplain GrantOutcome.Postponed postponed}; null if it was not, or was refused
 *     since
 * @param isIsolated whether the next attempt has a batch of its own, since a batch that contained the acquire has failed
 * @param shortages the last refusal by the database, or on its behalf; empty if there was none
 */
public record Attempt(
        int failures,
        @Nullable RuntimeException failure,
        boolean isConflict,
        int unknownAfter,
        boolean isWriteBlocked,
        @Nullable String blockedBy,
        boolean isIsolated,
        List<PermitShortage> shortages) {

    private static final int KNOWN = -1;

    /** Before the first attempt. */
    public static final Attempt NONE = new Attempt(0, null, false, KNOWN, false, null, false, List.of());

    /** The outcome is known. */
    public Attempt decided() {
        return with(KNOWN, isWriteBlocked, blockedBy, isIsolated, shortages);
    }

    /** A commit was not answered. */
    public Attempt unknown() {
        return with(isOutcomeUnknown() ? unknownAfter : failures, isWriteBlocked, blockedBy, isIsolated, shortages);
    }

    public Attempt refused(List<PermitShortage> now) {
        return with(unknownAfter, isWriteBlocked, null, isIsolated, now);
    }

    /** Another transaction had locked or deleted the row of this semaphore. */
    public Attempt postponed(String name) {
        return with(unknownAfter, isWriteBlocked, name, isIsolated, shortages);
    }

    public Attempt writeBlocked(boolean isBlocked) {
        return with(unknownAfter, isBlocked, blockedBy, isIsolated, shortages);
    }

    public Attempt isolated() {
        return with(unknownAfter, isWriteBlocked, blockedBy, true, shortages);
    }

    private Attempt with(int unknown, boolean write, @Nullable String name, boolean alone, List<PermitShortage> last) {
        return new Attempt(failures, failure, isConflict, unknown, write, name, alone, last);
    }

    public Attempt failed(RuntimeException by, boolean conflict) {
        return new Attempt(failures + 1, by, conflict, unknownAfter, isWriteBlocked, blockedBy, isIsolated, shortages);
    }

    /** Whether an attempt may have committed a grant. */
    public boolean isOutcomeUnknown() {
        return unknownAfter != KNOWN;
    }

    /** Whether that is so, and the attempt that finds it out has not failed. */
    public boolean isOutcomeToBeFound() {
        return isOutcomeUnknown() && failures - unknownAfter <= 1;
    }

    public boolean isRefused() {
        return !shortages.isEmpty();
    }
}
