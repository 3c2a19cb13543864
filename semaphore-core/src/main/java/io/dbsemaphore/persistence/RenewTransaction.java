package io.dbsemaphore.persistence;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
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
     * @return what was renewed, by external id; the others are not held any more, or locked by somebody
     */
    public Map<String, StoredGrant> renewFree(Map<String, Duration> ttls) {
        return transaction.execute(() -> {
            Map<Long, String> ids = new HashMap<>();
            requests.findIds(ttls.keySet()).forEach(each -> ids.put(each.id(), each.externalId()));
            Set<Long> free = ids.isEmpty() ? Set.of() : statements.lockFreeRequests(new TreeSet<>(ids.keySet()));
            Map<Duration, Set<Long>> byTtl = new HashMap<>();
            free.forEach(id -> byTtl.computeIfAbsent(ttls.get(ids.get(id)), ttl -> new TreeSet<>())
                    .add(id));
            byTtl.forEach((ttl, requestIds) -> requests.renewAll(requestIds, ttl.toMillis()));
            Map<String, StoredGrant> renewed = new HashMap<>();
            if (!free.isEmpty()) {
                lookup.findAlive(free).forEach(grant -> renewed.put(grant.externalId(), grant));
            }
            return renewed;
        });
    }

    /** Keeps grants alive, each to now + its own time to live, and returns those that could not be: they are lost. */
    public Set<Long> keepAlive(Set<Long> requestIds) {
        return transaction.execute(
                () -> requests.keepAlive(requestIds) == requestIds.size() ? Set.of() : lost(requestIds));
    }

    /** Those of these grants that are no longer held; what is being taken back just now is waited for. */
    public Set<Long> findLost(Set<Long> requestIds) {
        return transaction.execute(() -> {
            requests.touchHeld(requestIds);
            return lost(requestIds);
        });
    }

    private Set<Long> lost(Set<Long> requestIds) {
        Set<Long> lost = new TreeSet<>(requestIds);
        lost.removeAll(new HashSet<>(requests.findAlive(requestIds)));
        return lost;
    }

    /** The held grant of this external id, read only. */
    public Optional<StoredGrant> find(String externalId) {
        return transaction.execute(() -> lookup.findHeld(externalId));
    }
}
