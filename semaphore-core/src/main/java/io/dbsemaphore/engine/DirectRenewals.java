package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.RenewTransaction;
import io.dbsemaphore.persistence.StoredGrant;
import java.time.Duration;
import java.util.Optional;

/** Each caller renews his own grant, on his own thread. */
final class DirectRenewals implements Renewals {

    private final RenewTransaction renewals;
    private final TransientRetry retry;

    DirectRenewals(RenewTransaction renewals, TransientRetry retry) {
        this.renewals = renewals;
        this.retry = retry;
    }

    @Override
    public Optional<StoredGrant> renew(String externalId, Duration ttl) {
        return Uninterrupted.call(() -> retry.call(() -> renewals.renew(externalId, ttl)));
    }

    @Override
    public void close() {}
}
