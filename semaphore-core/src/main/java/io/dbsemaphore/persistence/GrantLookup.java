package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.persistence.PermitRequestRepository.Found;
import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.Optional;

/** Reads grants from the database. */
final class GrantLookup {

    private final EntityManager entityManager;
    private final PermitRequestRepository requests;
    private final PermitRepository permits;

    GrantLookup(EntityManager entityManager, PermitRequestRepository requests, PermitRepository permits) {
        this.entityManager = entityManager;
        this.requests = requests;
        this.permits = permits;
    }

    /** The held grant with this external id. Requires an open transaction. */
    Optional<StoredGrant> findHeld(String externalId) {
        return requests.findByExternalIds(List.of(externalId)).stream()
                .filter(found -> found.request().isAcquired())
                .findFirst()
                .map(this::complete);
    }

    /** Reads the grant of a request again that was changed in this transaction. */
    StoredGrant reload(long requestId) {
        entityManager.clear(); // a bulk update does not reach an entity that was loaded before
        return complete(requests.findByIds(List.of(requestId)).get(0));
    }

    private static StoredPermit stored(PermitRepository.NamedPermit permit) {
        return new StoredPermit(permit.id(), permit.name(), permit.count(), permit.token());
    }

    StoredGrant complete(Found found) {
        List<StoredPermit> held = permits.findByRequests(List.of(found.request().id())).stream()
                .map(GrantLookup::stored)
                .toList();
        return found.request().toGrant(held, found.now());
    }
}
