package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table of requests: the SQL of grants, releases and renewals. State and expiry change by compare-and-set only. Queued statements are
 * executed in the next round trip of the transaction, at the latest with its commit.
 *
 * <p>Statements with several ids test for a state that is not {@code RELEASED}, because PostgreSQL uses no index for that condition. For
 * {@code state = 'ACQUIRED'}, as long as the table has no statistics, it would read all index entries of that state, including those of
 * requests that have been released.
 */
record PermitRequestTable(Sql sql, Database database) {

    private static final String LOCK_EXTERNAL_ID = "select id from permit_request where external_id = ? for update";

    private static final String LOCK_SKIP_LOCKED = """
            select id from permit_request where id in (?) and state <> 'RELEASED' order by id for update skip locked""";

    private static final String RELEASE = """
            update permit_request set state = 'RELEASED', updated_at = utc_now() where id in (?) and state <> 'RELEASED'""";

    /** Locks the held permits that no other transaction has locked, and releases the requests without other held permits. */
    private static final String RELEASE_SKIP_LOCKED = """
            update permit_request set state = 'RELEASED', updated_at = utc_now()
            where id in (?) and state <> 'RELEASED' and id not in (
                select permit_request_id from permit where id in (?) and state = 'ACQUIRED' and id <> all (array(
                    select id from permit where id in (?) and state = 'ACQUIRED' for update skip locked)))
            returning id""";

    private static final String RENEW = """
            update permit_request
            set updated_at = utc_now(), renewed_at = utc_now(), expires_at = utc_plus_millis(?)
            where id in (?) and state <> 'RELEASED' and expires_at > utc_now() and expires_at < utc_plus_millis(?)""";

    private static final String TOUCH =
            "update permit_request set updated_at = utc_now() where id in (?) and state <> 'RELEASED'";

    private static final String UNBIND = "update permit_request set instance = null where id in (?) and instance = ?";

    private static final String FIND = "select " + PermitRequest.COLUMNS + ", all_rows() from permit_request r where ";
    private static final String FIND_BY_EXTERNAL_ID = FIND + "r.external_id in (?)";
    private static final String FIND_BY_ID = FIND + "r.id in (?)";

    private static final String FIND_HELD =
            "select id, all_rows() from permit_request where id in (?) and state <> 'RELEASED'";
    private static final String FIND_ALIVE = FIND_HELD + " and (expires_at is null or expires_at > utc_now())";

    /** Uses an index, whatever the number of holders; on PostgreSQL, only because a subquery reads the clock once. */
    private static final String FIND_OLDEST_EXPIRED = """
            select id from permit_request where state = 'ACQUIRED' and expires_at <= (select utc_now()) order by expires_at limit ?""";

    private static final String FIND_EARLIEST_EXPIRIES = """
            select p.semaphore_id, min(r.expires_at), min(i.heartbeat_at), min(i.expires_at)
            from permit p join permit_request r on r.id = p.permit_request_id left join semaphore_instance i on i.id = r.instance
            where p.semaphore_id in (?) and p.state = 'ACQUIRED' group by p.semaphore_id""";

    /** Reads the end of the primary key, which ascends with time. */
    private static final String COUNT_GRANTED = """
            select count(*) from (select r.created_at from permit_request r where r.id > ? order by r.id desc limit ?) latest
            where latest.created_at >= ?""";

    /** By how much the clock that a JVM uses for ids may be behind the database's. */
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(5);

    /** Releases a request that was neither repeated nor renewed since it was granted, or that this instance keeps alive. */
    private static final String RELEASE_UNREPEATED = RELEASE + " and (renewed_at = created_at or instance = ?)";

    private static final String RENEW_BY_HANDLE = """
            update permit_request
            set ttl_millis = ?, expires_at = utc_plus_millis(?), renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED' and (expires_at is null or expires_at > utc_now())""";

    private static final String RESTART = """
            update permit_request set expires_at = utc_plus_millis(ttl_millis), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED'""";

    /** Never shortens the expiry: the first caller may still be at work. */
    private static final String REPLAY = """
            update permit_request set ttl_millis = case when ttl_millis < ? then ? else ttl_millis end,
                expires_at = case when expires_at < utc_plus_millis(?) then utc_plus_millis(?) else expires_at end,
                instance = case when expires_at is null then instance else ? end, renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED'""";

    private static final String REPLAY_WITHOUT_TTL = """
            update permit_request set ttl_millis = null, expires_at = null, instance = ?,
                renewed_at = utc_now(), updated_at = utc_now()
            where id = ? and state = 'ACQUIRED'""";

    private static final String TAKE_ID = """
            insert into permit_request(id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)
            select ?, ?, ?, 'RELEASED', ?, utc_now(), utc_now(), utc_now() from semaphore s
            where s.id = ? and not exists (select 1 from permit_request r where r.id = ?)""";

    /**
     * Queues inserts of released requests with the ids of an acquire's lost attempts, so that an attempt that arrives later fails. It has
     * not inserted its row yet, because this transaction has locked the semaphore's row.
     */
    void queueTakeIds(AcquireState acquire, long semaphoreId) {
        for (long id : acquire.requestIds()) {
            PermitRequest lost = new PermitRequest(id, acquire, PermitState.RELEASED, LocalDateTime.MIN);
            sql.update(TAKE_ID, id, "lost-" + id, lost.owner(), lost.contentDigest(), semaphoreId, id);
        }
    }

    void queueInsert(List<PermitRequest> requests) {
        sql.insert(
                PermitRequest.INSERT,
                requests.stream().map(PermitRequest::toRow).toList());
    }

    /**
     * On InnoDB, queues a locking read that waits for transactions that have inserted or locked this external id. It locks less than an
     * insert: an insert that waits for a duplicate blocks all inserts into the gap before it. On other databases such a read does not find
     * an uncommitted row, so nothing is queued.
     */
    void queueLockOfExternalId(String externalId) {
        if (database.locksUncommittedRows()) {
            sql.queryRows(LOCK_EXTERNAL_ID, Sql.ID, externalId);
        }
    }

    /** Locks the held requests among these that no other transaction has locked, and returns their ids. */
    Set<Long> lockSkipLocked(Collection<Long> ids) {
        return new HashSet<>(sql.read(LOCK_SKIP_LOCKED, Sql.ID, ids));
    }

    /** Queues the release of the held requests among these. The result is their number. */
    Supplier<Integer> queueRelease(Collection<Long> ids) {
        return sql.update(RELEASE, ids);
    }

    /** Whether {@link #queueReleaseSkipLocked} is supported. */
    boolean releasesSkipLocked() {
        return database.returnsUpdatedRows();
    }

    /**
     * Queues one statement that locks the held permits that no other transaction has locked, and releases the held requests all of
     * whose permits it has locked. The result is the ids of these requests.
     *
     * @param permitIds the permits of all given requests
     */
    Supplier<List<Long>> queueReleaseSkipLocked(Collection<Long> ids, Collection<Long> permitIds) {
        return sql.queryRows(RELEASE_SKIP_LOCKED, Sql.ID, ids, permitIds, permitIds);
    }

    /**
     * Queues the renewal, to now + its time, of each request that is held and not expired. It never shortens an expiry.
     */
    void queueRenewal(SortedMap<Long, Long> millis) {
        Sql.ById times = new Sql.ById(millis);
        sql.update(RENEW, times, millis.keySet(), times);
    }

    /** Queues an update of the requests among these that this JVM keeps alive: they stay held until they expire, without heartbeats. */
    void queueUnbinding(Collection<Long> ids, long instance) {
        sql.update(UNBIND, ids, instance);
    }

    /** Queues the query for those of the requests that are held and not expired. */
    Supplier<List<Long>> queueFindAlive(Collection<Long> ids) {
        return sql.queryRows(FIND_ALIVE, Sql.ID, ids);
    }

    /** Queues a write to the held requests among these, so that a cluster that certifies writes detects a conflict. */
    void queueTouch(Collection<Long> ids) {
        sql.update(TOUCH, ids);
    }

    List<PermitRequest> findByExternalIds(Collection<String> externalIds) {
        return sql.read(FIND_BY_EXTERNAL_ID, PermitRequest::of, externalIds);
    }

    List<PermitRequest> findByIds(Collection<Long> ids) {
        return sql.read(FIND_BY_ID, PermitRequest::of, ids);
    }

    LocalDateTime now() {
        return sql.read("select utc_now()", (row, number) -> row.getObject(1, LocalDateTime.class))
                .get(0);
    }

    /** Returns the held requests among these, including expired ones. */
    List<Long> findHeld(Collection<Long> ids) {
        return sql.read(FIND_HELD, Sql.ID, ids);
    }

    /** Reads, without a lock, the requests of any semaphore that expired first. */
    List<Long> findOldestExpired(int limit) {
        return sql.read(FIND_OLDEST_EXPIRED, Sql.ID, limit);
    }

    /** Counts the requests that were granted within this time, up to the limit. */
    int countGranted(Duration last, int limit) {
        LocalDateTime now = now();
        return sql.read(
                        COUNT_GRANTED,
                        (row, number) -> row.getInt(1),
                        TimeOrderedIds.upperBound(now, last.plus(CLOCK_SKEW)),
                        limit,
                        now.minus(last))
                .get(0);
    }

    /**
     * Finds when the first held permit of each semaphore may be reclaimed unless a renewal or heartbeat comes: when it expires, or when the
     * oldest heartbeat of an instance that keeps permits alive has been overdue for long enough.
     *
     * @return the times by semaphore id; none for semaphores without such a permit
     */
    Map<Long, Instant> findEarliestExpiries(Collection<Long> semaphoreIds) {
        Map<Long, Instant> earliest = new HashMap<>();
        sql.read(FIND_EARLIEST_EXPIRIES, PermitRequestTable::earliestExpiry, semaphoreIds)
                .forEach(found -> found.getValue().ifPresent(at -> earliest.put(found.getKey(), at)));
        return earliest;
    }

    private static Map.Entry<Long, Optional<Instant>> earliestExpiry(ResultSet row, int number) throws SQLException {
        @Nullable LocalDateTime expiresAt = row.getObject(2, LocalDateTime.class);
        @Nullable LocalDateTime heartbeatAt = row.getObject(3, LocalDateTime.class);
        Stream<Instant> expiry = expiresAt == null ? Stream.of() : Stream.of(StoredGrant.instant(expiresAt));
        Stream<Instant> overdue = heartbeatAt == null
                ? Stream.of()
                : Stream.of(SemaphoreInstance.reclaimableAt(heartbeatAt, row.getObject(4, LocalDateTime.class)));
        return Map.entry(row.getLong(1), Stream.concat(expiry, overdue).min(Comparator.naturalOrder()));
    }

    /**
     * Releases a request that was neither repeated nor renewed since it was granted.
     *
     * @param instance an instance whose renewals do not count; null for none
     */
    int releaseUnrepeated(long id, @Nullable Long instance) {
        return sql.execute(RELEASE_UNREPEATED, id, instance == null ? 0L : instance); // no instance has id 0
    }

    /** Queues the renewal of a request to now + the time to live. The result is 0 if the request is not held, or has expired. */
    Supplier<Integer> queueRenewal(long id, Duration ttl) {
        return sql.update(RENEW_BY_HANDLE, ttl.toMillis(), ttl.toMillis(), id);
    }

    /** Restarts the time to live of a request that its caller has not received yet. The request does not count as renewed. */
    int restart(long id) {
        return sql.execute(RESTART, id);
    }

    /**
     * Restarts the time to live of a repeated request, even if it has expired, as long as it has not been reclaimed. Never shortens the
     * expiry.
     *
     * @param ttl null to hold it until it is released
     */
    int replay(long id, @Nullable Duration ttl, @Nullable Long instance) {
        if (ttl == null) {
            return sql.execute(REPLAY_WITHOUT_TTL, instance, id);
        }
        long millis = ttl.toMillis();
        return sql.execute(REPLAY, millis, millis, millis, millis, instance, id);
    }
}
