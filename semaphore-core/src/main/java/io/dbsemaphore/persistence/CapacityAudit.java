package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityChange.ForcedRelease;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.domain.StoredGrant;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.LocalDateTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The audit. A positive id means a capacity change or a forced release by an operator; a negative id, a reclaim by the library. A row
 * refers to its semaphore by name, and outlives it.
 */
@Entity
@Table(name = "capacity_change")
class CapacityAudit {

    @Id
    @Column(name = "id", nullable = false, updatable = false)
    private long id;

    @Column(name = "semaphore_name", nullable = false, updatable = false, length = 190)
    private String semaphoreName;

    @Column(name = "from_capacity", nullable = false, updatable = false)
    private int fromCapacity;

    @Column(name = "to_capacity", nullable = false, updatable = false)
    private int toCapacity;

    @Column(name = "changed_by", nullable = false, updatable = false, length = 190)
    private String changedBy;

    @Column(name = "reason", nullable = false, updatable = false, length = 1000)
    private String reason;

    @Column(name = "changed_at", nullable = false, updatable = false)
    private LocalDateTime changedAt;

    @Column(name = "external_id", updatable = false, length = 190)
    private @Nullable String externalId;

    @Column(name = "owner", updatable = false, length = 190)
    private @Nullable String owner;

    @Column(name = "permits", updatable = false)
    private @Nullable Integer permits;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected CapacityAudit() {}

    CapacityChange toContract() {
        return new CapacityChange(
                semaphoreName,
                fromCapacity,
                toCapacity,
                changedBy,
                reason,
                StoredGrant.instant(changedAt),
                externalId == null || owner == null || permits == null
                        ? Optional.empty()
                        : Optional.of(new ForcedRelease(externalId, owner, permits)));
    }

    Reclaim toReclaim() {
        return new Reclaim(
                semaphoreName,
                String.valueOf(externalId),
                String.valueOf(owner),
                permits == null ? 0 : permits,
                reason,
                StoredGrant.instant(changedAt));
    }
}
