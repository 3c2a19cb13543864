package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.RenewTransaction;
import io.dbsemaphore.persistence.StoredGrant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Renews the grants of all callers together. */
final class GatheredRenewals implements Renewals, Gathering.Work<GatheredRenewals.Wanted, Optional<StoredGrant>> {

    private final RenewTransaction renewals;
    private final Gathering<Wanted, Optional<StoredGrant>> gathering;

    /** A renewal that is wanted. */
    record Wanted(String externalId, Duration ttl) {}

    GatheredRenewals(
            RenewTransaction renewals,
            DaemonThreads threads,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Listeners listeners) {
        this.renewals = renewals;
        gathering = new Gathering<>(threads, "semaphore-renewals", atOnce, maxBatchSize, maxAttempts, listeners, this);
    }

    @Override
    public Optional<StoredGrant> renew(String externalId, Duration ttl) {
        return gathering.submit(new Wanted(externalId, ttl));
    }

    @Override
    public List<@Nullable Optional<StoredGrant>> run(List<Wanted> wanted, boolean mayWait) {
        return mayWait
                ? List.of(
                        renewals.renew(wanted.get(0).externalId(), wanted.get(0).ttl()))
                : renewFree(wanted);
    }

    /** Where one is not renewed, it is found out alone why. */
    private List<@Nullable Optional<StoredGrant>> renewFree(List<Wanted> wanted) {
        Map<String, Duration> ttls = new LinkedHashMap<>();
        wanted.forEach(each -> ttls.put(each.externalId(), each.ttl())); // the last word counts
        Map<String, StoredGrant> renewed = renewals.renewFree(ttls);
        List<@Nullable Optional<StoredGrant>> outcomes = new ArrayList<>();
        for (Wanted each : wanted) {
            StoredGrant grant = renewed.get(each.externalId());
            outcomes.add(grant == null ? null : Optional.of(grant));
        }
        return outcomes;
    }

    @Override
    public void close() {
        gathering.close();
    }
}
