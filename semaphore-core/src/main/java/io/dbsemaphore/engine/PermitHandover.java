package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.reuse.ReusablePermit;
import io.dbsemaphore.engine.reuse.ReusablePermits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes on permits whose use has ended.
 *
 * <p>A released permit goes to the first caller that waits in this JVM, and becomes idle only if none does. No caller waits
 * while a permit is idle: a caller that begins to wait looks for idle permits afterwards, and a thread that makes a permit idle
 * looks for waiting callers afterwards.
 */
final class PermitHandover {

    private static final Logger log = LoggerFactory.getLogger(PermitHandover.class);

    private final ReusablePermits permits;
    private final GroupCommit commit;
    private final ReleaseService releases;

    PermitHandover(ReusablePermits permits, GroupCommit commit, ReleaseService releases) {
        this.permits = permits;
        this.commit = commit;
        this.releases = releases;
    }

    /** Hands a permit to the next caller, or makes it idle. False if it must go back, also because that has failed. */
    boolean keep(ReusablePermit permit) {
        boolean passedOn = false;
        try {
            passedOn = passOn(permit);
            if (passedOn) {
                serveWaiting(permit.terms().name());
            }
        } catch (RuntimeException | Error failure) {
            UnexpectedErrors.log(log, "The reuse of a permit", failure);
        }
        return passedOn;
    }

    /** Hands idle permits to callers that have begun to wait, or gives them back if that is not possible. */
    void serveWaiting(String name) {
        while (permits.isClosed() || commit.isAwaited(name)) {
            List<ReusablePermit> idle = permits.pollAll(name);
            if (idle.isEmpty()) {
                return;
            }
            passOnOrGiveBack(idle);
        }
    }

    /** Hands idle permits to callers that wait, and gives the others back. */
    void passOnOrGiveBack(List<ReusablePermit> idle) {
        idle.forEach(permit -> {
            if (commit.isAwaited(permit.terms().name()) && passOn(permit)) {
                permits.returned(permit);
            } else {
                giveBack(permit);
            }
        });
    }

    private boolean passOn(ReusablePermit permit) {
        if (!permits.isReusable(permit)) {
            return false;
        }
        HandoverOutcome outcome = HandoverOutcome.NOBODY_WAITS;
        if (commit.isAwaited(permit.terms().name())) {
            permit.state().setForWork(true);
            outcome = commit.handOver(
                    permit.terms(),
                    new Acquire.Answer(new GrantOutcome.Granted(permit.state().grant(), false), System.nanoTime(), 0));
        }
        if (outcome == HandoverOutcome.NOBODY_WAITS) {
            permit.state().setForWork(false);
            return permits.offer(permit);
        }
        return outcome == HandoverOutcome.DONE;
    }

    /** Gives idle permits back, without waiting for that. */
    void giveBack(List<ReusablePermit> idle) {
        idle.forEach(this::giveBack);
    }

    void giveBack(ReusablePermit permit) {
        permits.remove(permit);
        CompletableFuture<?> unused = releases.giveBack(permit.state(), listener -> {})
                .whenComplete((outcome, failure) -> permits.returned(permit));
    }

    /** Makes a permit idle again that was taken out for a use, and was not used. */
    void putBack(ReusablePermit permit) {
        permit.state().setForWork(false);
        if (!permits.offer(permit)) {
            permits.beginReturn(permit);
            giveBack(permit);
        }
    }
}
