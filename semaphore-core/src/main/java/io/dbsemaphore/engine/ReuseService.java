package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.reuse.IdlePermitReturns;
import io.dbsemaphore.engine.reuse.ReusablePermit;
import io.dbsemaphore.engine.reuse.ReusablePermits;
import io.dbsemaphore.engine.reuse.ReusedGrant;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Hands permits that callers of this JVM have released to the next callers, without a transaction. All other acquires and
 * releases go through {@link AcquireService} and {@link ReleaseService}.
 */
final class ReuseService {

    private final ReusablePermits permits;
    private final PermitHandover handover;
    private final IdlePermitReturns idleReturns;
    private final AcquireFactory acquireFactory;
    private final GroupCommit commit;
    private final ReleaseService releases;
    private final ListenerNotifier listeners;
    private final ReusedGrant.Operations operations;

    /**
     * Creates it with no reusable permits.
     *
     * @param times how long permits of a semaphore may be reused; zero if they are not
     */
    ReuseService(
            PerSemaphore<Duration> times,
            AcquireFactory acquireFactory,
            GroupCommit commit,
            ReleaseService releases,
            ListenerNotifier listeners,
            ReusedGrant.Operations operations,
            ScheduledExecutorService scheduler) {
        this.permits = new ReusablePermits(times);
        this.handover = new PermitHandover(permits, commit, releases);
        this.idleReturns = new IdlePermitReturns(permits, commit::isAwaited, handover::passOnOrGiveBack, scheduler);
        this.acquireFactory = acquireFactory;
        this.commit = commit;
        this.releases = releases;
        this.listeners = listeners;
        this.operations = operations;
    }

    /**
     * Acquires an idle permit. May wait for those that are going back.
     *
     * @param keptAliveByDefault whether the grant is kept alive if the request does not say
     * @return null if there is none for this request; it then needs a transaction
     */
    @Nullable AcquireResult take(AcquireRequest request, boolean keptAliveByDefault) {
        return take(request, keptAliveByDefault, true);
    }

    /** As {@link #take}, without waiting. */
    @Nullable AcquireResult takeNow(AcquireRequest request) {
        return take(request, false, false);
    }

    private @Nullable AcquireResult take(AcquireRequest request, boolean keptAliveByDefault, boolean mayWait) {
        if (permits.isDisabled() || Thread.currentThread().isInterrupted()) {
            return null;
        }
        long startedAt = System.nanoTime();
        ReuseTerms terms = acquireFactory
                .reuseTerms(request, request.keepAlive().orElse(keptAliveByDefault))
                .orElse(null);
        if (terms == null || !permits.isKnown(terms.name()) || commit.isAwaited(terms.name())) {
            return null;
        }
        acquireFactory.checkHostTransaction(request);
        ReusablePermit permit = permits.poll(terms);
        if (permit == null) {
            handover.giveBack(permits.pollOthers(terms));
            if (mayWait) {
                idleReturns.await(request);
            }
            permit = permits.poll(terms);
        }
        if (permit == null) {
            return null;
        }
        ReusedGrant grant = begin(permit);
        return grant == null ? null : granted(grant, startedAt);
    }

    /** Begins a use of a permit that was taken out; null if it must go back. */
    private @Nullable ReusedGrant begin(ReusablePermit permit) {
        try {
            permit.state()
                    .setForWork(true); // before the second look, so that a shutdown waits for the work or prevents it
            if (!permits.isClosed()) {
                return beginUse(permit);
            }
        } catch (RuntimeException | Error failure) { // the permit would be neither in use nor idle
            handover.putBack(permit);
            throw failure;
        }
        permits.beginReturn(permit);
        handover.giveBack(permit);
        return null;
    }

    private AcquireResult granted(ReusedGrant grant, long startedAt) {
        try {
            Duration waited = Duration.ofNanos(System.nanoTime() - startedAt);
            listeners.tell(listener -> listener.acquired(new SemaphoreListener.Acquired(grant, waited, false)));
            return new AcquireResult.Granted(grant);
        } catch (RuntimeException | Error failure) { // an acquire that throws holds nothing
            ReleaseOutcome unused = release(grant);
            throw failure;
        }
    }

    /** Prepares an acquire that needs a transaction: its grant may be reused later, or idle permits are returned first. */
    Acquire prepare(Acquire acquire) {
        if (!permits.isDisabled() && !prepareReuse(acquire)) {
            idleReturns.await(acquire.call().request());
        }
        return acquire;
    }

    /** As {@link #prepare}, without a thread that waits: the acquire is to begin when the future is completed. */
    CompletableFuture<?> prepareAsync(Acquire acquire) {
        if (permits.isDisabled()) {
            return CompletableFuture.completedFuture(null);
        }
        boolean unused = prepareReuse(acquire);
        return idleReturns.awaitAsync(acquire.call().request());
    }

    /** Returns false if the acquire cannot reuse permits, so that idle ones are given back. */
    private boolean prepareReuse(Acquire acquire) {
        ReuseTerms terms = acquireFactory
                .reuseTerms(acquire.call().request(), acquire.command().isKeptAlive())
                .orElse(null);
        if (terms == null) {
            acquire.call().request().permits().keySet().forEach(name -> handover.giveBack(permits.pollAll(name)));
            return false;
        }
        if (!permits.reuseOf(terms.name()).isZero()) {
            acquire.reuse(terms, permits.tokensFor(terms.name()));
        }
        return true;
    }

    /**
     * Whether a waiting caller was handed a permit, but comes too late to use it, as in a JVM that was suspended. The permit goes
     * back, and the acquire has to be tried again.
     */
    boolean isOutdated(Acquire acquire, Acquire.Answer answer) {
        ReusablePermit permit = handedOver(acquire, answer.outcome());
        if (permit == null || permits.isReusable(permit)) {
            return false;
        }
        permits.beginReturn(permit);
        handover.giveBack(permit);
        return true;
    }

    private @Nullable ReusablePermit handedOver(Acquire acquire, GrantOutcome outcome) {
        return acquire.reuseTerms() != null && outcome instanceof GrantOutcome.Granted granted
                ? permits.find(granted.grant().externalId())
                : null;
    }

    /** The handle of a permit that a waiting caller was handed; empty if it was granted by a transaction. */
    Optional<PermitGrant> beginHandedOver(Acquire acquire, GrantOutcome.Granted granted) {
        ReusablePermit permit = handedOver(acquire, granted);
        return permit == null ? Optional.empty() : Optional.of(beginUse(permit));
    }

    /** Makes a permit reusable that was just granted. */
    ReusablePermit granted(ReuseTerms terms, Acquire acquire, HeldGrant state, long asOf) {
        ReusablePermit permit = permits.add(state, terms, acquire.tokens(), asOf);
        idleReturns.granted();
        return permit;
    }

    /** The reuse time: such a permit is kept alive for this much longer than the maximum hold of one use. */
    Duration reuseOf(ReuseTerms terms) {
        return permits.reuseOf(terms.name());
    }

    ReusedGrant beginUse(ReusablePermit permit) {
        return ReusedGrant.begin(permit, operations);
    }

    /** Ends a use. The permit goes to the next caller, or back to the database. */
    ReleaseOutcome release(ReusedGrant grant) {
        Duration heldFor = grant.heldFor();
        ReusedGrant.State before = grant.end();
        if (before == ReusedGrant.State.ENDED) {
            return ReleaseOutcome.ALREADY_RELEASED;
        }
        if (before == ReusedGrant.State.HELD && handover.keep(grant.permit())) {
            listeners.tell(listener -> listener.released(
                    new SemaphoreListener.Released(grant.externalId(), grant.permits(), Optional.of(heldFor))));
            return ReleaseOutcome.RELEASED;
        }
        grant.endWithGrant();
        permits.remove(grant.permit());
        return releases.release(
                grant.permit().state(),
                listener -> listener.released(new SemaphoreListener.Released(
                        grant.externalId(), grant.permits(), Optional.of(grant.heldFor()))),
                grant);
    }

    /** What a batch has found out about the semaphores. */
    void observe(Map<String, RemainingAvailability> availability) {
        if (!permits.isDisabled()) {
            availability.forEach(
                    (name, remaining) -> permits.setAwaitedElsewhere(name, remaining.isAwaitedElsewhere()));
        }
    }

    /** See {@link PermitHandover#serveWaiting}. */
    void serveWaiting(Set<String> names) {
        if (!permits.isDisabled()) {
            names.forEach(handover::serveWaiting);
        }
    }

    /** Whether a use of a permit of this JVM has, or had, this external id. */
    boolean isKnown(String externalId) {
        return permits.find(externalId) != null;
    }

    /** The use with this external id; empty if it has ended, or is not of this JVM. */
    Optional<ReusedGrant> findUse(String externalId) {
        return permits.findUse(externalId);
    }

    /** Gives all idle permits back, without waiting for that. From now on none is reused. */
    void close() {
        idleReturns.close();
        handover.giveBack(permits.close());
    }

    /** Waits until the permits that are going back have done so, or the deadline has passed; false in that case. */
    boolean awaitReturns(Deadline deadline) throws InterruptedException {
        return permits.awaitReturns(deadline);
    }
}
