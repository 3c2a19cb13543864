package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Transient;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.type.SqlTypes;
import org.jspecify.annotations.Nullable;

/**
 * The record of one acquire: its owner, its times and its state. State and expiry
 * change by conditional updates only, never through a managed entity.
 */
@Entity
@Table(name = "permit_request")
class PermitRequest {

    /** The values are in {@link #toRow}. */
    static final String INSERT = """
            insert into permit_request(id, external_id, owner, label, share_path, instance, state, content_digest, ttl_millis,
                expires_at, renewed_at, created_at, updated_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    /** The columns that {@link #of} reads, with the alias {@code r}, and the database's clock. */
    static final String COLUMNS =
            "r.id, r.external_id, r.owner, r.label, r.instance, r.state, r.content_digest, r.ttl_millis,"
                    + " r.expires_at, r.created_at, r.updated_at, utc_now()";

    @Id
    @Column(name = "id", nullable = false, updatable = false)
    private long id;

    @Column(name = "external_id", nullable = false, updatable = false, length = 190)
    private String externalId;

    @Column(name = "owner", nullable = false, updatable = false, length = 190)
    private String owner;

    /** Tells what holds the permits. Null if the request has no label, is of an earlier version, or has reusable permits. */
    @Column(name = "label", updatable = false, length = 190)
    private @Nullable String label;

    /** The share of the caller, for operators. Null if it had none, or the request is of an earlier version. */
    @Column(name = "share_path", updatable = false, length = 190)
    private @Nullable String sharePath;

    /** The JVM that keeps the grant alive, if any; its heartbeat is in {@code semaphore_instance}. */
    @Column(name = "instance")
    private @Nullable Long instance;

    @Enumerated(EnumType.STRING)
    @JdbcTypeCode(SqlTypes.VARCHAR)
    @Column(name = "state", nullable = false, length = 16)
    private PermitState state;

    /** A digest of the requested permits, by which a repeated external id is compared. */
    @Column(name = "content_digest", nullable = false, updatable = false, length = 64)
    private String contentDigest;

    /** Null if it is held until released. */
    @Column(name = "ttl_millis")
    private @Nullable Long ttlMillis;

    @Column(name = "expires_at")
    private @Nullable LocalDateTime expiresAt;

    /** Not set in a row that was read by {@link #of}. */
    @Column(name = "renewed_at", nullable = false)
    private LocalDateTime renewedAt;

    @Column(name = "created_at", nullable = false, updatable = false)
    private LocalDateTime createdAt;

    @Column(name = "updated_at", nullable = false)
    private LocalDateTime updatedAt;

    /** The database's clock when the row was read or made. Not set by Hibernate, which reads the row for reports. */
    @Transient
    private LocalDateTime readAt;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected PermitRequest() {}

    /**
     * Creates the request of an acquire.
     *
     * @param now the database's clock
     */
    PermitRequest(long id, AcquireState acquire, PermitState state, LocalDateTime now) {
        AcquireCommand command = acquire.command();
        this.id = id;
        this.externalId = command.externalId();
        this.owner = command.owner();
        this.label = acquire.label();
        this.sharePath = acquire.share().isNone() ? null : acquire.share().path();
        this.instance = command.instance();
        this.state = state;
        this.contentDigest = command.contentDigest();
        this.ttlMillis = command.ttl() == null ? null : command.ttl().toMillis();
        this.expiresAt = command.ttl() == null
                ? null
                : now.plus(Duration.ofMillis(command.ttl().toMillis()));
        this.renewedAt = now;
        this.createdAt = now;
        this.updatedAt = now;
        this.readAt = now;
    }

    static PermitRequest of(ResultSet row, int number) throws SQLException {
        PermitRequest request = new PermitRequest();
        request.id = row.getLong(1);
        request.externalId = row.getString(2);
        request.owner = row.getString(3);
        request.label = row.getString(4);
        request.instance = row.getObject(5, Long.class);
        request.state = PermitState.valueOf(row.getString(6));
        request.contentDigest = row.getString(7);
        request.ttlMillis = row.getObject(8, Long.class);
        request.expiresAt = row.getObject(9, LocalDateTime.class);
        request.createdAt = row.getObject(10, LocalDateTime.class);
        request.updatedAt = row.getObject(11, LocalDateTime.class);
        request.readAt = row.getObject(12, LocalDateTime.class);
        return request;
    }

    List<@Nullable Object> toRow() {
        return Arrays.asList(
                id,
                externalId,
                owner,
                label,
                sharePath,
                instance,
                state.name(),
                contentDigest,
                ttlMillis,
                expiresAt,
                renewedAt,
                createdAt,
                updatedAt);
    }

    /** Returns the grant that this request holds. */
    StoredGrant toGrant(List<StoredPermit> permits) {
        return new StoredGrant(
                id,
                externalId,
                owner,
                label,
                permits,
                ttlMillis == null ? null : Duration.ofMillis(ttlMillis),
                acquiredAt(),
                expiresAt().orElse(null),
                StoredGrant.instant(readAt));
    }

    long id() {
        return id;
    }

    String externalId() {
        return externalId;
    }

    String owner() {
        return owner;
    }

    @Nullable String label() {
        return label;
    }

    Instant acquiredAt() {
        return StoredGrant.instant(createdAt);
    }

    Optional<Instant> expiresAt() {
        return Optional.ofNullable(expiresAt).map(StoredGrant::instant);
    }

    LocalDateTime updatedAt() {
        return updatedAt;
    }

    @Nullable Long instance() {
        return instance;
    }

    boolean isAcquired() {
        return state == PermitState.ACQUIRED;
    }

    /** Whether it is held and had not expired when it was read. */
    boolean isAlive() {
        return isAcquired() && remaining().compareTo(Duration.ZERO) > 0;
    }

    /** Returns the time to live that remained when it was read; ten years if it is held until released. */
    Duration remaining() {
        return expiresAt == null ? Duration.ofDays(3_650) : Duration.between(readAt, expiresAt);
    }

    /** Whether it was released before it expired. */
    boolean isReleasedInTime() {
        return state == PermitState.RELEASED && (expiresAt == null || updatedAt.isBefore(expiresAt));
    }

    String contentDigest() {
        return contentDigest;
    }
}
