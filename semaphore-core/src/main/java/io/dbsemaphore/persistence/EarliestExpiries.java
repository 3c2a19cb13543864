package io.dbsemaphore.persistence;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** When the first of the held permits of a semaphore expires, for callers that are refused. */
final class EarliestExpiries {

    private final PermitRequestRepository requests;
    private final HolderScans<Optional<Instant>> scans = new HolderScans<>();

    EarliestExpiries(PermitRequestRepository requests) {
        this.requests = requests;
    }

    /** The earliest expiry of each, by id; none where nothing held expires. Where many hold, it may be somewhat old. */
    Map<Long, Instant> of(Collection<Lack> lacks) {
        Map<Long, Instant> expiries = new HashMap<>();
        List<Lack> unknown = lacks.stream()
                .filter(lack -> scans.recent(lack)
                        .map(recent -> {
                            recent.ifPresent(at -> expiries.put(lack.semaphoreId(), at));
                            return false;
                        })
                        .orElse(true))
                .toList();
        if (!unknown.isEmpty()) {
            long begin = scans.begin();
            requests.findEarliestExpiries(ids(unknown)).forEach(earliest -> {
                if (earliest.at() != null) {
                    expiries.put(earliest.semaphoreId(), StoredGrant.instant(earliest.at()));
                }
            });
            scans.remember(unknown, begin, lack -> Optional.ofNullable(expiries.get(lack.semaphoreId())));
        }
        return expiries;
    }

    private static List<Long> ids(List<Lack> lacks) {
        return lacks.stream().map(Lack::semaphoreId).toList();
    }
}
