package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldCheck;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.quota.ReusedGrant;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.HoldTransactions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Finds, renews and checks grants, and ends those that are found to be lost. */
final class HeldGrantService {

    private final AcquireFactory acquireFactory;
    private final HoldTransactions transaction;
    private final Retries retry;
    private final GrantRegistry held;
    private final KeepAlive keepAlive;
    private final HeldCheck heldCheck;
    private final GrantHandle.Operations operations;

    /**
     * Creates a service.
     *
     * @param operations to which the handles of the grants delegate
     */
    HeldGrantService(
            AcquireFactory acquireFactory,
            HoldTransactions transaction,
            Retries retry,
            GrantRegistry held,
            KeepAlive keepAlive,
            HeldCheck heldCheck,
            GrantHandle.Operations operations) {
        this.acquireFactory = acquireFactory;
        this.transaction = transaction;
        this.retry = retry;
        this.held = held;
        this.keepAlive = keepAlive;
        this.heldCheck = heldCheck;
        this.operations = operations;
    }

    /** See {@link io.dbsemaphore.SemaphoreOperations#find}. */
    Optional<PermitGrant> find(String externalId) {
        long asOf = System.nanoTime();
        return retry.call(() -> transaction.find(externalId))
                .map(grant -> new GrantHandle(held.refresh(grant, asOf), true, operations));
    }

    Optional<PermitGrant> find(ReusedGrant use) {
        return find(use.chunk().state().grant().externalId()).isPresent() ? Optional.of(use) : Optional.empty();
    }

    /** See {@link io.dbsemaphore.SemaphoreOperations#renew}. */
    PermitGrant renew(String externalId, Duration ttl) {
        Duration checkedTtl = acquireFactory.checkTtl(ttl);
        long asOf = System.nanoTime();
        return retry.call(() -> transaction.renew(externalId, checkedTtl))
                .map(grant -> renewed(grant, asOf))
                .orElseThrow(() -> {
                    lose(externalId);
                    return new PermitLostException(externalId, Map.of());
                });
    }

    /** See {@link GrantHandle.Operations#renew}. */
    void renew(HeldGrant state, PermitGrant handle, Duration ttl) {
        Duration checkedTtl = acquireFactory.checkTtl(ttl);
        StoredGrant grant = state.grant();
        Retries.Attempts attempts = retry.begin();
        while (true) {
            long asOf = System.nanoTime();
            try {
                StoredGrant renewed = transaction.renew(grant, checkedTtl).orElseThrow(() -> lost(state, handle));
                state.update(renewed, asOf); // of a grant that another JVM has acquired, only this handle knows
                PermitGrant unused = renewed(renewed, asOf);
                return;
            } catch (RuntimeException failure) {
                attempts.pauseOrThrow(failure);
            }
        }
    }

    /** Renews a grant by the handle of its current use. No other use follows, since it would have this time to live. */
    void renew(ReusedGrant grant, Duration ttl) {
        Duration checkedTtl = acquireFactory.checkTtl(ttl);
        if (!grant.bind()) {
            throw new PermitLostException(grant.externalId(), grant.permits());
        }
        renew(grant.chunk().state(), grant, checkedTtl);
    }

    private PermitGrant renewed(StoredGrant grant, long asOf) {
        PermitGrant handle = new GrantHandle(held.refresh(grant, asOf), true, operations);
        keepAlive.reconsider(grant.requestId());
        return handle;
    }

    /** See {@link io.dbsemaphore.SemaphoreOperations#requireHeld}. */
    void requireHeld(PermitGrant grant) {
        StoredGrant stored = grant instanceof GrantHandle handle && handle.isOf(operations)
                ? handle.stored()
                : retry.call(() -> transaction.find(grant.externalId())).orElseThrow(() -> lost(grant));
        if (!heldCheck.lockIfHeld(stored, stored.externalId())) {
            throw lost(grant);
        }
    }

    /**
     * Checks the grant by the handle of a use, which must not have ended. The end of that use is written to the database, so that
     * it waits for the caller's transaction: another use would begin while that is still open.
     */
    void requireHeld(ReusedGrant use) {
        HeldGrant state = use.chunk().state();
        if (!use.bind()) {
            throw new PermitLostException(use.externalId(), use.permits());
        }
        if (!heldCheck.lockIfHeld(state.grant(), use.externalId())) {
            throw lost(state, use);
        }
    }

    /** Ends the grant that this JVM holds under this external id, since it is no longer held according to the database. */
    void lose(String externalId) {
        held.find(externalId).ifPresent(state -> keepAlive.lose(state, new GrantHandle(state, true, operations)));
    }

    private PermitLostException lost(PermitGrant grant) {
        if (grant instanceof GrantHandle handle && handle.isOf(operations)) {
            return lost(handle.state(), handle);
        }
        lose(grant.externalId());
        return new PermitLostException(grant.externalId(), grant.permits());
    }

    /** Ends the grant, also for the handles of another acquire in this JVM, and explains to the caller that it is lost. */
    private PermitLostException lost(HeldGrant state, PermitGrant handle) {
        keepAlive.lose(state, handle);
        StoredGrant lost = state.grant();
        held.find(lost.externalId())
                .filter(other -> other.grant().requestId() == lost.requestId())
                .ifPresent(other -> keepAlive.lose(other, new GrantHandle(other, true, operations)));
        return new PermitLostException(handle.externalId(), handle.permits());
    }
}
