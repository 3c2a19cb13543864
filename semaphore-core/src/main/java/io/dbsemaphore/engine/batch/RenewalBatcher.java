package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.persistence.RenewTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Renews the grants of all callers together. */
public final class RenewalBatcher implements Renewals, Batcher.Work<RenewalBatcher.Wanted, Optional<StoredGrant>> {

    private final RenewTransaction renewals;
    private final Batcher<Wanted, Optional<StoredGrant>> batcher;

    /** A renewal that is wanted. */
    record Wanted(String externalId, Duration ttl) {}

    public RenewalBatcher(
            RenewTransaction renewals,
            DaemonThreads threads,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Duration lockWait,
            ListenerNotifier listeners) {
        this.renewals = renewals;
        batcher = new Batcher<>(
                threads, "semaphore-renewals", atOnce, maxBatchSize, maxAttempts, lockWait, listeners, this);
    }

    @Override
    public Optional<StoredGrant> renew(String externalId, Duration ttl) {
        return batcher.submit(new Wanted(externalId, ttl));
    }

    @Override
    public List<@Nullable Optional<StoredGrant>> run(List<Wanted> wanted, Batcher.Locks locks) {
        return locks == Batcher.Locks.WAIT
                ? List.of(
                        renewals.renew(wanted.get(0).externalId(), wanted.get(0).ttl()))
                : renewFree(wanted);
    }

    @Override
    public String lockedFor(Wanted wanted, Duration time) {
        return "The grant '%s' was not renewed: another transaction has locked its request for %s. It lasts until it expires"
                .formatted(wanted.externalId(), time);
    }

    private List<@Nullable Optional<StoredGrant>> renewFree(List<Wanted> wanted) {
        Map<String, Duration> ttls = new LinkedHashMap<>();
        wanted.forEach(each -> ttls.put(each.externalId(), each.ttl())); // the last word counts
        Map<String, Optional<StoredGrant>> renewed = renewals.renewFree(ttls);
        List<@Nullable Optional<StoredGrant>> outcomes = new ArrayList<>();
        wanted.forEach(each -> outcomes.add(renewed.get(each.externalId())));
        return outcomes;
    }

    @Override
    public void close() {
        batcher.close();
    }
}
