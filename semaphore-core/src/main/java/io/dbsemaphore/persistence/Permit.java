package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.PermitState;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.type.SqlTypes;

/**
 * The permits that one request holds of one semaphore. The state is a copy of the request's, so that the held permits of a
 * semaphore can be summed from one index.
 */
@Entity
@Table(name = "permit")
class Permit {

    @Id
    @Column(name = "id", nullable = false, updatable = false)
    private long id;

    @Column(name = "semaphore_id", nullable = false, updatable = false)
    private long semaphoreId;

    @Column(name = "permit_request_id", nullable = false, updatable = false)
    private long requestId;

    @Column(name = "count", nullable = false, updatable = false)
    private int count;

    /** 1 if it excludes all other permits, otherwise 0. A number can be aggregated. */
    @Column(name = "exclusive", nullable = false, updatable = false)
    private int exclusive;

    @Enumerated(EnumType.STRING)
    @JdbcTypeCode(SqlTypes.VARCHAR)
    @Column(name = "state", nullable = false, length = 16)
    private PermitState state;

    @Column(name = "token", nullable = false, updatable = false)
    private long token;

    @SuppressWarnings("NullAway.Init") // filled by Hibernate
    protected Permit() {}
}
