package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * A semaphore: the row that a grant locks. The number of held permits is the sum of the permits, and is not stored here, so
 * that a release does not update this row.
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

    /**
     * The highest fencing token granted so far. Raising it is a write, by which multi-primary clusters detect conflicts.
     */
    @Column(name = "fence", nullable = false)
    private long fence;

    /**
     * A low watermark: no permit with a lower token is held, so that a sum starts here. It never decreases. The term is from
     * stream processing (Akidau et al., <a href="https://doi.org/10.14778/2536222.2536229">MillWheel: Fault-Tolerant Stream
     * Processing at Internet Scale</a>, 2013).
     */
    @Column(name = "live_from", nullable = false)
    private long liveFrom;

    /**
     * The pattern that created it on first use, unless its capacity has since been set by hand. Such a semaphore gets its capacity from a
     * provider of the application, or else from the longest pattern that matches its name, and is deleted after a long idle time.
     */
    @Column(name = "pattern", updatable = false, length = 190)
    private @Nullable String pattern;

    /**
     * Who set the capacity last, see {@link io.dbsemaphore.domain.PatternCapacity}; null if nobody has changed it, or if an earlier version
     * of the library did, which does not record this.
     */
    @Column(name = "capacity_set_by", updatable = false, length = 190)
    private @Nullable String capacitySetBy;

    /** Callers may be waiting until this time, by the database's clock. */
    @Column(name = "waiters_until")
    private @Nullable LocalDateTime waitersUntil;

    @Column(name = "created_at", nullable = false, updatable = false)
    private LocalDateTime createdAt;

    @Column(name = "updated_at", nullable = false)
    private LocalDateTime updatedAt;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected Semaphore() {}

    /** Returns the values for a transaction that has locked this row. */
    LockedSemaphore toLocked() {
        return new LockedSemaphore(id, name, capacity, fence, waitersUntil);
    }
}
