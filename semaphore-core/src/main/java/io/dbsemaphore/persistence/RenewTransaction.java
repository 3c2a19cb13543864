package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;
import java.util.Optional;

/** Renews a grant that is held and has not expired: a conditional update, then a read of the new expiry. */
public final class RenewTransaction {

    private final ShortTransaction transaction;
    private final PermitRequestRepository requests;
    private final GrantLookup lookup;

    RenewTransaction(ShortTransaction transaction, PermitRequestRepository requests, GrantLookup lookup) {
        this.transaction = transaction;
        this.requests = requests;
        this.lookup = lookup;
    }

    /** Sets the expiry of a known grant to now + {@code ttl}; empty if it is no longer held. */
    public Optional<StoredGrant> renew(StoredGrant grant, Duration ttl) {
        return transaction.execute(() -> requests.renew(grant.requestId(), ttl.toMillis()) == 1
                ? requests.findExpiry(grant.requestId()).map(expiry -> expiry.of(grant, ttl))
                : Optional.empty());
    }

    /** Sets the expiry of the grant with this external id to now + {@code ttl}; empty if it is no longer held. */
    public Optional<StoredGrant> renew(String externalId, Duration ttl) {
        return transaction.execute(() -> requests.findIdByExternalId(externalId)
                .filter(requestId -> requests.renew(requestId, ttl.toMillis()) == 1)
                .map(lookup::reload));
    }

    public Optional<StoredGrant> find(String externalId) {
        return transaction.execute(() -> lookup.findHeld(externalId));
    }
}
