package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The findings of all attempts of one acquire so far.
 *
 * @param failures the number of attempts that failed
 * @param failure the last failure; null if none has failed
 * @param isConflict whether the server rolled that attempt back, in favor of another transaction
 * @param unknownAfter the number of failures after which the outcome became unknown, because a commit was not answered; -1 if known
 * @param isWriteBlocked whether the last attempt locked the rows of the semaphores, but could not write its grant: an open transaction may
 *     have inserted the external id
 * @param blockedBy the semaphore for which the acquire was {@linkplain GrantOutcome.Postponed postponed}; null if it was not, or was refused
 *     since
 * @param isIsolated whether the next attempt has a batch of its own, because a batch that contained the acquire has failed
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

    /** Records that the outcome is known. */
    public Attempt decided() {
        return with(KNOWN, isWriteBlocked, blockedBy, isIsolated, shortages);
    }

    /** Records that a commit was not answered. */
    public Attempt unknown() {
        return with(isOutcomeUnknown() ? unknownAfter : failures, isWriteBlocked, blockedBy, isIsolated, shortages);
    }

    public Attempt refused(List<PermitShortage> now) {
        return with(unknownAfter, isWriteBlocked, null, isIsolated, now);
    }

    /** Records that another transaction had locked or deleted the row of this semaphore. */
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

    /** Whether the outcome is unknown, and the attempt to find it out has not failed. */
    public boolean isOutcomeToBeFound() {
        return isOutcomeUnknown() && failures - unknownAfter <= 1;
    }

    public boolean isRefused() {
        return !shortages.isEmpty();
    }
}
