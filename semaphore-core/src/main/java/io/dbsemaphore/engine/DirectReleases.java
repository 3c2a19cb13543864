package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.persistence.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.ReleaseTransaction;
import io.dbsemaphore.persistence.StoredGrant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Each caller releases his own grant, on his own thread. */
final class DirectReleases implements Releases {

    private final ReleaseTransaction releases;
    private final TransientRetry retry;

    DirectReleases(ReleaseTransaction releases, TransientRetry retry) {
        this.releases = releases;
        this.retry = retry;
    }

    @Override
    public ReleaseOutcome release(StoredGrant grant) {
        return run(() -> releases.release(grant));
    }

    @Override
    public ReleaseOutcome releaseAlong(StoredGrant grant, Runnable handedIn) {
        throw new UnsupportedOperationException("Who grants directly takes nothing along");
    }

    /** Runs any transaction that releases. */
    ReleaseOutcome run(Supplier<ReleaseOutcome> transaction) {
        AtomicBoolean commitSent = new AtomicBoolean();
        ReleaseOutcome outcome = Uninterrupted.call(() -> retry.call(() -> {
            try {
                return transaction.get();
            } catch (CommitOutcomeUnknownException unknown) {
                commitSent.set(true);
                throw unknown;
            }
        }));
        return outcome == ReleaseOutcome.ALREADY_RELEASED && commitSent.get()
                ? ReleaseOutcome.RELEASED // by an earlier attempt of this very call
                : outcome;
    }

    @Override
    public void close() {}
}
