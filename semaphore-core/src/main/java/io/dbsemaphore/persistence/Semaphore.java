package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * A semaphore: the row that is locked to grant. How many permits are held is not kept here but summed from the permits,
 * so that a release need not touch it.
 */
@Entity
@Table(name = "semaphore")
class Semaphore {

    @Id
    @Column(name = "id", nullable = false, updatable = false)
    private long id;

    @Column(name = "name", nullable = false, updatable = false, length = 190)
    private String name;

    @Column(name = "capacity", nullable = false)
    private int capacity;

    /** The highest fencing token that was handed out; also the write by which multi-primary clusters see a conflict. */
    @Column(name = "fence", nullable = false)
    private long fence;

    /** A low watermark: no permit with a lower token is held, so that a sum need not look below. Moves up only. */
    @Column(name = "live_from", nullable = false)
    private long liveFrom;

    /** The pattern that made it on first use, if one did; such a semaphore is removed when it has been idle for long. */
    @Column(name = "pattern", updatable = false, length = 190)
    private @Nullable String pattern;

    @Column(name = "created_at", nullable = false, updatable = false)
    private LocalDateTime createdAt;

    @Column(name = "updated_at", nullable = false)
    private LocalDateTime updatedAt;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected Semaphore() {}

    long id() {
        return id;
    }

    String name() {
        return name;
    }

    int capacity() {
        return capacity;
    }

    /** What a transaction needs of it that has locked its row. */
    LockedSemaphore toLocked() {
        return new LockedSemaphore(id, name, capacity, fence);
    }
}
