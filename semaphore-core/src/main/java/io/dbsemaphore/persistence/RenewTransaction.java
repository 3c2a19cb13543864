package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Renews a grant that is held and has not expired: compare-and-set, then read what it is now. */
public final class RenewTransaction {

    private final ShortTransaction transaction;
    private final PermitRequestRepository requests;
    private final GrantLookup lookup;
    private final ReleaseStatements statements;

    RenewTransaction(
            ShortTransaction transaction,
            PermitRequestRepository requests,
            GrantLookup lookup,
            ReleaseStatements statements) {
        this.statements = statements;
        this.transaction = transaction;
        this.requests = requests;
        this.lookup = lookup;
    }

    /** Sets the expiry to now + {@code ttl}; empty when the grant is not held any more. */
    public Optional<StoredGrant> renew(String externalId, Duration ttl) {
        return transaction.execute(() -> requests.findIdByExternalId(externalId)
                .filter(requestId -> requests.renew(requestId, ttl.toMillis()) == 1)
                .map(lookup::reload));
    }

    /**
     * Renews those of these grants that are held and that nobody else has locked, by one transaction.
     *
     * @param ttls the new time to live of each, by external id
     * @return what was renewed, by external id, empty where it is not held any more; without those that are locked by
     *     somebody
     */
    public Map<String, Optional<StoredGrant>> renewFree(Map<String, Duration> ttls) {
        return transaction.execute(() -> {
            Map<Long, String> ids = new HashMap<>();
            requests.findIds(ttls.keySet()).forEach(each -> ids.put(each.id(), each.externalId()));
            Set<Long> free = ids.isEmpty() ? Set.of() : statements.lockFreeRequests(new TreeSet<>(ids.keySet()));
            Map<Duration, Set<Long>> byTtl = new HashMap<>();
            free.forEach(id -> byTtl.computeIfAbsent(ttls.get(ids.get(id)), ttl -> new TreeSet<>())
                    .add(id));
            byTtl.forEach((ttl, requestIds) -> requests.renewAll(requestIds, ttl.toMillis()));
            Map<String, Optional<StoredGrant>> renewed = new HashMap<>();
            ttls.keySet().forEach(externalId -> renewed.put(externalId, Optional.empty()));
            if (!free.isEmpty()) {
                lookup.findAlive(free).forEach(grant -> renewed.put(grant.externalId(), Optional.of(grant)));
            }
            if (free.size() < ids.size()) {
                Set<Long> locked = new TreeSet<>(requests.findAlive(ids.keySet()));
                locked.removeAll(free);
                locked.forEach(id -> renewed.remove(ids.get(id)));
            }
            return renewed;
        });
    }

    /** The held grant of this external id, read only. */
    public Optional<StoredGrant> find(String externalId) {
        return transaction.execute(() -> lookup.findHeld(externalId));
    }
}
