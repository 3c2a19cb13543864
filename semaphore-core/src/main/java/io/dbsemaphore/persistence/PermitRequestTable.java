package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;

/**
 * The table of requests: the SQL of grants, releases and renewals. State and expiry change by compare-and-set only. What is queued
 * is executed by the next round trip of the transaction, at the latest by its commit.
 */
final class PermitRequestTable {

    private static final String LOCK_EXTERNAL_ID = "select id from permit_request where external_id = ? for update";
    private static final String DELETE = "delete from permit_request where id = ?";

    private static final String LOCK_SKIP_LOCKED = """
            select id from permit_request where id in (?) and state = 'ACQUIRED' order by id for update skip locked""";

    private static final String RELEASE = """
            update permit_request set state = 'RELEASED', updated_at = utc_now() where id in (?) and state = 'ACQUIRED'""";

    /** Locks the held permits that no other transaction has locked, and releases the requests that have no others. */
    private static final String RELEASE_SKIP_LOCKED = """
            update permit_request set state = 'RELEASED', updated_at = utc_now()
            where id in (?) and state = 'ACQUIRED' and id not in (
                select permit_request_id from permit where id in (?) and state = 'ACQUIRED' and id <> all (array(
                    select id from permit where id in (?) and state = 'ACQUIRED' for update skip locked)))
            returning id""";

    private static final String RENEW = """
            update permit_request
            set updated_at = utc_now(), renewed_at = utc_now(), expires_at = utc_plus_millis(ttl_millis)
            where id in (?) and state = 'ACQUIRED' and expires_at > utc_now() and expires_at < utc_plus_millis(ttl_millis)""";

    private static final String TOUCH =
            "update permit_request set updated_at = utc_now() where id in (?) and state = 'ACQUIRED'";

    private static final String FIND = "select " + PermitRequest.COLUMNS + ", utc_now() from permit_request r where ";
    private static final String FIND_BY_EXTERNAL_ID = FIND + "r.external_id in (?)";
    private static final String FIND_BY_ID = FIND + "r.id in (?)";
    private static final String FIND_ID = "select id from permit_request where external_id = ?";
    private static final String FIND_EXPIRY = "select expires_at, utc_now() from permit_request where id = ?";

    private static final String FIND_HELD = "select id from permit_request where id in (?) and state = 'ACQUIRED'";
    private static final String FIND_ALIVE = FIND_HELD + " and (expires_at is null or expires_at > utc_now())";
    private static final String FIND_RELEASED = "select id from permit_request where id in (?) and state = 'RELEASED'";

    /** By an index, whatever the number of holders. */
    private static final String FIND_OLDEST_EXPIRED = """
            select id from permit_request where state = 'ACQUIRED' and expires_at <= utc_now() order by expires_at limit ?""";

    private static final String FIND_HOLDERS = """
            select distinct r.id from permit_request r join permit p on p.permit_request_id = r.id
            where p.semaphore_id in (?) and p.state = 'ACQUIRED' and r.state = 'ACQUIRED' and %s order by r.id limit ?""";

    private static final String FIND_EXPIRED = FIND_HOLDERS.formatted("r.expires_at <= utc_now()");
    private static final String FIND_OF_INSTANCES = FIND_HOLDERS.formatted("r.instance in (?)");

    private static final String FIND_EARLIEST_EXPIRIES = """
            select p.semaphore_id, min(r.expires_at), min(i.heartbeat_at), min(i.expires_at)
            from permit p join permit_request r on r.id = p.permit_request_id left join semaphore_instance i on i.id = r.instance
            where p.semaphore_id in (?) and p.state = 'ACQUIRED' group by p.semaphore_id""";

    private static final String LOCK_HELD = """
            select %s from permit_request r where r.id in (?) and r.state = 'ACQUIRED' order by r.id for update skip locked""".formatted(PermitRequest.COLUMNS);

    /** A request that has been neither repeated nor renewed since it was granted. */
    private static final String RELEASE_UNREPEATED = RELEASE + " and renewed_at = created_at";

    private static final String RELEASE_EXPIRED = RELEASE + " and expires_at <= utc_now()";
    private static final String RELEASE_OF_SUSPECT = RELEASE
            + " and instance is not null and not exists (select 1 from semaphore_instance i"
            + " where i.id = permit_request.instance and i.expires_at > utc_now())";
    private static final String RELEASE_STALE =
            RELEASE + " and expires_at is null and renewed_at <= utc_plus_millis(?)";
    private static final String RELEASE_OF_OWNER = RELEASE + " and owner = ? and renewed_at <= ?";

    private static final String RENEW_BY_HANDLE = """
            update permit_request
            set ttl_millis = ?, expires_at = utc_plus_millis(?), renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED' and (expires_at is null or expires_at > utc_now())""";

    /** Never shortens it. */
    private static final String RENEW_UNTIL = """
            update permit_request set expires_at = utc_plus_millis(?), renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED' and expires_at > utc_now() and expires_at < utc_plus_millis(?)""";

    private static final String REPLAY = """
            update permit_request set ttl_millis = ?, expires_at = utc_plus_millis(?), instance = ?,
                renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED'""";

    private static final String REPLAY_WITHOUT_TTL = """
            update permit_request set ttl_millis = null, expires_at = null, instance = null,
                renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED'""";

    private static final RowMapper<Long> ID = (row, number) -> row.getLong(1);

    private final Sql sql;
    private final boolean locksUncommittedRows;
    private final boolean returnsUpdatedRows;
    private final Supplier<PermitRequestRepository> rows;

    /**
     * The table.
     *
     * @param locksUncommittedRows whether a locking read waits for a row that another transaction has inserted
     * @param returnsUpdatedRows whether an update can return the rows that it has changed
     */
    PermitRequestTable(
            Sql sql, boolean locksUncommittedRows, boolean returnsUpdatedRows, Supplier<PermitRequestRepository> rows) {
        this.sql = sql;
        this.locksUncommittedRows = locksUncommittedRows;
        this.returnsUpdatedRows = returnsUpdatedRows;
        this.rows = rows;
    }

    PermitRequestRepository rows() {
        return rows.get();
    }

    void queueInsert(List<PermitRequest> requests) {
        sql.insert(
                PermitRequest.INSERT,
                requests.stream().map(PermitRequest::toRow).toList());
    }

    /**
     * On InnoDB, queues a locking read that waits for transactions that have inserted or locked this external id. It locks less
     * than an insert, which blocks all inserts into the gap before a duplicate while it waits for it. On other databases such a
     * read does not find a row that is not committed, so nothing is queued.
     */
    void queueLockOfExternalId(String externalId) {
        if (locksUncommittedRows) {
            sql.queryRows(LOCK_EXTERNAL_ID, ID, externalId);
        }
    }

    /**
     * Queues statements that wait for transactions that have inserted or locked this external id: on InnoDB
     * {@linkplain #queueLockOfExternalId a locking read}, on other databases the insert of a row, which is deleted again.
     *
     * @param row supplies the row where it is needed
     */
    void queueWaitForExternalId(String externalId, Supplier<PermitRequest> row) {
        queueLockOfExternalId(externalId);
        if (!locksUncommittedRows) {
            PermitRequest inserted = row.get();
            queueInsert(List.of(inserted));
            sql.update(DELETE, inserted.id());
        }
    }

    /** Locks the held requests among these that no other transaction has locked, and returns their ids. */
    Set<Long> lockSkipLocked(Collection<Long> ids) {
        return new HashSet<>(sql.read(LOCK_SKIP_LOCKED, ID, ids));
    }

    /** Queues the release of the held requests among these. The result is their number. */
    Supplier<Integer> queueRelease(Collection<Long> ids) {
        return sql.update(RELEASE, ids);
    }

    /** Whether {@link #queueReleaseSkipLocked} is supported. */
    boolean releasesSkipLocked() {
        return returnsUpdatedRows;
    }

    /**
     * Queues one statement that locks those of the held permits that no other transaction has locked, and releases those of the
     * held requests that have no others. The result are the ids of the requests.
     *
     * @param permitIds the permits of all these requests
     */
    Supplier<List<Long>> queueReleaseSkipLocked(Collection<Long> ids, Collection<Long> permitIds) {
        return sql.queryRows(RELEASE_SKIP_LOCKED, ID, ids, permitIds, permitIds);
    }

    /**
     * Queues the renewal of the requests among these that are held and not expired, to now + their time to live; it never
     * shortens a lease. The result is their number.
     */
    Supplier<Integer> queueRenewal(Collection<Long> ids) {
        return sql.update(RENEW, ids);
    }

    /** Queues a write to the held requests among these, so that a cluster that certifies writes detects a conflict. */
    void queueTouch(Collection<Long> ids) {
        sql.update(TOUCH, ids);
    }

    /** A request, and the database's clock when it was read. */
    record Found(PermitRequest request, LocalDateTime now) {

        static Found of(ResultSet row, int number) throws SQLException {
            return new Found(PermitRequest.of(row), row.getObject(12, LocalDateTime.class));
        }
    }

    List<Found> findByExternalIds(Collection<String> externalIds) {
        return sql.read(FIND_BY_EXTERNAL_ID, Found::of, externalIds);
    }

    List<Found> findByIds(Collection<Long> ids) {
        return sql.read(FIND_BY_ID, Found::of, ids);
    }

    Optional<Long> findIdByExternalId(String externalId) {
        return sql.read(FIND_ID, ID, externalId).stream().findFirst();
    }

    LocalDateTime now() {
        return sql.read("select utc_now()", (row, number) -> row.getObject(1, LocalDateTime.class))
                .get(0);
    }

    /** The requests among these that are held, including expired ones. */
    List<Long> findHeld(Collection<Long> ids) {
        return sql.read(FIND_HELD, ID, ids);
    }

    /** The requests among these that are held and have not expired. */
    List<Long> findAlive(Collection<Long> ids) {
        return sql.read(FIND_ALIVE, ID, ids);
    }

    List<Long> findReleased(Collection<Long> ids) {
        return sql.read(FIND_RELEASED, ID, ids);
    }

    /** The requests that expired first, of any semaphore; read without a lock. */
    List<Long> findOldestExpired(int limit) {
        return sql.read(FIND_OLDEST_EXPIRED, ID, limit);
    }

    List<Long> findExpired(Collection<Long> semaphoreIds, int limit) {
        return sql.read(FIND_EXPIRED, ID, semaphoreIds, limit);
    }

    List<Long> findOfInstances(Collection<Long> semaphoreIds, Collection<Long> instances, int limit) {
        return sql.read(FIND_OF_INSTANCES, ID, semaphoreIds, instances, limit);
    }

    /**
     * The first expiries among the held permits of a semaphore.
     *
     * @param expiresAt the earliest expiry of a time to live; null if no held request has one
     * @param heartbeatAt the oldest heartbeat of an instance that keeps permits alive; null if there is none
     * @param overdueAt when that heartbeat becomes overdue
     */
    record EarliestExpiry(
            long semaphoreId,
            @Nullable LocalDateTime expiresAt,
            @Nullable LocalDateTime heartbeatAt,
            @Nullable LocalDateTime overdueAt) {

        static EarliestExpiry of(ResultSet row, int number) throws SQLException {
            return new EarliestExpiry(
                    row.getLong(1),
                    row.getObject(2, LocalDateTime.class),
                    row.getObject(3, LocalDateTime.class),
                    row.getObject(4, LocalDateTime.class));
        }

        /** When the first permit may be reclaimed unless it is renewed; null if never. */
        @Nullable LocalDateTime at() {
            if (heartbeatAt == null || overdueAt == null) {
                return expiresAt;
            }
            // a heartbeat is overdue after two thirds of the instance timeout, the last third is the grace
            LocalDateTime suspectAt =
                    overdueAt.plus(Duration.between(heartbeatAt, overdueAt).dividedBy(2));
            return expiresAt != null && expiresAt.isBefore(suspectAt) ? expiresAt : suspectAt;
        }
    }

    List<EarliestExpiry> findEarliestExpiries(Collection<Long> semaphoreIds) {
        return sql.read(FIND_EARLIEST_EXPIRIES, EarliestExpiry::of, semaphoreIds);
    }

    /** Locks the held requests among these that no other transaction has locked. */
    List<PermitRequest> lockHeld(Collection<Long> ids) {
        return sql.read(LOCK_HELD, (row, number) -> PermitRequest.of(row), ids);
    }

    /** Releases a request that has been neither repeated nor renewed since it was granted. */
    int releaseUnrepeated(long id) {
        return sql.execute(RELEASE_UNREPEATED, id);
    }

    int releaseExpired(Collection<Long> ids) {
        return sql.execute(RELEASE_EXPIRED, ids);
    }

    /** Releases the requests of instances whose lease has expired. */
    int releaseOfSuspect(Collection<Long> ids) {
        return sql.execute(RELEASE_OF_SUSPECT, ids);
    }

    int releaseStale(Collection<Long> ids, long minusMillis) {
        return sql.execute(RELEASE_STALE, ids, minusMillis);
    }

    int releaseOfOwner(Collection<Long> ids, String owner, LocalDateTime since) {
        return sql.execute(RELEASE_OF_OWNER, ids, owner, since);
    }

    /** Queues the renewal of a request that is held and has not expired, to now + the time to live. The result is 0 otherwise. */
    Supplier<Integer> queueRenewal(long id, Duration ttl) {
        return sql.update(RENEW_BY_HANDLE, ttl.toMillis(), ttl.toMillis(), id);
    }

    /** Renews a request that is kept alive for the last time, up to the end of its maximum hold; never shortens it. */
    int renewUntil(long id, long millis) {
        return sql.execute(RENEW_UNTIL, millis, id, millis);
    }

    /** The grant after its renewal, with the new expiry. */
    Optional<StoredGrant> findRenewed(StoredGrant grant, Duration ttl) {
        return sql
                .read(
                        FIND_EXPIRY,
                        (row, number) -> {
                            LocalDateTime expiresAt = row.getObject(1, LocalDateTime.class);
                            return new StoredGrant(
                                    grant.requestId(),
                                    grant.externalId(),
                                    grant.owner(),
                                    grant.permits(),
                                    ttl,
                                    grant.acquiredAt(),
                                    expiresAt == null ? null : StoredGrant.instant(expiresAt),
                                    StoredGrant.instant(row.getObject(2, LocalDateTime.class)));
                        },
                        grant.requestId())
                .stream()
                .findFirst();
    }

    /** Restarts the time to live of a repeated request, also if it has expired but has not been reclaimed. */
    int replay(long id, long ttlMillis, @Nullable Long instance) {
        return sql.execute(REPLAY, ttlMillis, ttlMillis, instance, id);
    }

    /** Removes the time to live of a repeated request: it is held until released. */
    int replayWithoutTtl(long id) {
        return sql.execute(REPLAY_WITHOUT_TTL, id);
    }
}
