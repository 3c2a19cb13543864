package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
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

    /** The first callers with their shares; null if an earlier version of the library has written the row. */
    @Column(name = "shares", length = 4000)
    private @Nullable String shares;

    @Column(name = "expires_at", nullable = false)
    private LocalDateTime expiresAt;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected SemaphoreWaiter() {}

    WaitingInstance toContract() {
        return new WaitingInstance(instance, owner, StoredGrant.instant(since), waiting);
    }

    /** Describes one of its callers. */
    WaitingCaller toContract(RecordedHead.Standing standing, long ahead) {
        Waiter waiter = standing.waiter();
        return new WaitingCaller(
                instance,
                owner,
                ahead,
                standing.mayMoreBeAhead(),
                StoredGrant.instant(Place.utc(waiter.arrival())),
                waiter.ask().count(),
                waiter.ask().exclusive(),
                waiter.ofSeveral(),
                Optional.of(waiter.headStart())
                        .filter(micros -> micros > 0)
                        .map(micros -> Duration.of(micros, ChronoUnit.MICROS)),
                Optional.of(waiter.share()).filter(share -> !share.isNone()).map(Share::path));
    }

    RecordedHead toHead() {
        return WaiterCodec.decode(
                semaphoreId,
                instance,
                new WaiterCodec.Texts(firstWaiters, waiters, shares),
                Place.micros(since),
                waiting,
                expiresAt);
    }

    Key key() {
        return new Key(semaphoreId, instance);
    }
}
