package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder.HolderInstance;
import io.dbsemaphore.domain.StoredGrant;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Optional;

/** A JVM that keeps grants alive, with its lease. Until the lease expires, other JVMs do not reclaim these grants. */
@Entity
@Table(name = "semaphore_instance")
class SemaphoreInstance {

    @Id
    @Column(name = "id", nullable = false, updatable = false)
    private long id;

    @Column(name = "owner", nullable = false, updatable = false, length = 190)
    private String owner;

    @Column(name = "started_at", nullable = false, updatable = false)
    private LocalDateTime startedAt;

    @Column(name = "heartbeat_at", nullable = false)
    private LocalDateTime heartbeatAt;

    @Column(name = "expires_at", nullable = false)
    private LocalDateTime expiresAt;

    /** The nonce of the last heartbeat, by which the JVM notices that a copy of its process also sends heartbeats. */
    @Column(name = "nonce", nullable = false)
    private long nonce;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected SemaphoreInstance() {}

    InstanceStatus toStatus(boolean alive, long requests) {
        return new InstanceStatus(
                id,
                owner,
                StoredGrant.instant(startedAt),
                StoredGrant.instant(heartbeatAt),
                alive,
                Optional.of(reclaimableAt(heartbeatAt, expiresAt)),
                requests);
    }

    HolderInstance toKeeper(boolean alive) {
        return new HolderInstance(
                id,
                Optional.of(owner),
                Optional.of(StoredGrant.instant(heartbeatAt)),
                alive,
                Optional.of(reclaimableAt(heartbeatAt, expiresAt)));
    }

    /**
     * Returns when others may reclaim its permits: the lease is two thirds of the instance timeout, and the last third is a grace period.
     */
    static Instant reclaimableAt(LocalDateTime heartbeatAt, LocalDateTime expiresAt) {
        return StoredGrant.instant(
                expiresAt.plus(Duration.between(heartbeatAt, expiresAt).dividedBy(2)));
    }
}
