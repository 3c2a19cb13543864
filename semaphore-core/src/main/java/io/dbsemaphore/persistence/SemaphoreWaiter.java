package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.domain.StoredGrant;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one instance that wait for a semaphore, in one row. A row without callers, under the negative id of its instance, is a
 * {@linkplain WaiterTable#mark mark}.
 */
@Entity
@Table(name = "semaphore_waiter")
@IdClass(SemaphoreWaiter.Key.class)
class SemaphoreWaiter {

    record Key(long semaphoreId, long instance) implements Serializable {}

    @Id
    @Column(name = "semaphore_id", nullable = false, updatable = false)
    private long semaphoreId;

    @Id
    @Column(name = "instance", nullable = false, updatable = false)
    private long instance;

    /** The name of the instance. */
    @Column(name = "owner", nullable = false, updatable = false, length = 190)
    private String owner;

    /** When the first of the callers arrived, or was first refused if its arrival is not known. */
    @Column(name = "since", nullable = false)
    private LocalDateTime since;

    @Column(name = "waiting", nullable = false)
    private int waiting;

    /** The first callers, for versions of the library that do not know {@link #waiters}. */
    @Column(name = "first_waiters", nullable = false, length = 1000)
    private String firstWaiters;

    /** The first callers, {@linkplain WaiterCodec encoded}; null if an earlier version of the library has written the row. */
    @Column(name = "waiters", length = 1000)
    private @Nullable String waiters;

    @Column(name = "expires_at", nullable = false)
    private LocalDateTime expiresAt;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected SemaphoreWaiter() {}

    WaitingInstance toContract() {
        return new WaitingInstance(instance, owner, StoredGrant.instant(since), waiting);
    }

    Key key() {
        return new Key(semaphoreId, instance);
    }
}
