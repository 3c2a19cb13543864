package io.dbsemaphore.persistence;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.time.LocalDateTime;

/**
 * How far a tenant, or one of its keys, has been served at a semaphore while callers waited. Only {@link ShareTable} reads and writes the
 * rows; the mapping describes the table to {@link io.dbsemaphore.persistence.unit.TableCheck} and Hibernate.
 */
@Entity
@Table(name = "semaphore_share")
@IdClass(SemaphoreShare.Key.class)
class SemaphoreShare {

    record Key(long semaphoreId, String sharePath) implements Serializable {}

    @Id
    @Column(name = "semaphore_id", nullable = false, updatable = false)
    private long semaphoreId;

    /** A tenant with a slash at its end, a tenant with a key, or {@code *} for the semaphore itself. */
    @Id
    @Column(name = "share_path", nullable = false, updatable = false, length = 190)
    private String sharePath;

    @Column(name = "finish", nullable = false)
    private long finish;

    /** The finish of the tenant's callers without a key; 0 in other rows. */
    @Column(name = "own_finish", nullable = false)
    private long ownFinish;

    /** The time by which the tenant's keys are served; 0 in other rows. */
    @Column(name = "keys_time", nullable = false)
    private long keysTime;

    @Column(name = "updated_at", nullable = false)
    private LocalDateTime updatedAt;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected SemaphoreShare() {}
}
