package io.dbsemaphore.persistence;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.LocalDateTime;

/** A JVM that keeps grants alive, with its lease: until its expiry, other JVMs do not reclaim these grants. */
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

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected SemaphoreInstance() {}
}
