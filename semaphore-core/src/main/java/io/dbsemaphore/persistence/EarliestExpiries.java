package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HolderScans;
import io.dbsemaphore.domain.Shortfall;
import io.dbsemaphore.domain.StoredGrant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds when the first of the held permits of a semaphore expires, which a refusal reports. */
final class EarliestExpiries {

    private final PermitRequestRepository requests;
    private final HolderScans<Optional<Instant>> scans = new HolderScans<>();

    EarliestExpiries(PermitRequestRepository requests) {
        this.requests = requests;
    }

    /**
     * The earliest expiry of each semaphore, by id; no entry if nothing held expires. For semaphores with many holders, the
     * value may come from the cache.
     */
    Map<Long, Instant> of(Collection<Shortfall> shortfalls) {
        Map<Long, Instant> expiries = new HashMap<>();
        List<Shortfall> unknown = new ArrayList<>();
        shortfalls.forEach(shortfall -> scans.recent(shortfall)
                .ifPresentOrElse(
                        recent -> recent.ifPresent(at -> expiries.put(shortfall.semaphoreId(), at)),
                        () -> unknown.add(shortfall)));
        if (!unknown.isEmpty()) {
            long begin = scans.begin();
            requests.findEarliestExpiries(Shortfall.ids(unknown)).forEach(earliest -> {
                if (earliest.at() != null) {
                    expiries.put(earliest.semaphoreId(), StoredGrant.instant(earliest.at()));
                }
            });
            scans.record(unknown, begin, shortfall -> Optional.ofNullable(expiries.get(shortfall.semaphoreId())));
        }
        return expiries;
    }
}
