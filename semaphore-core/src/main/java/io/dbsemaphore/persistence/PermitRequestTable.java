package io.dbsemaphore.persistence;

import io.dbsemaphore.persistence.unit.Sql;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

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
            sql.queryRows(LOCK_EXTERNAL_ID, (row, number) -> row.getLong(1), externalId);
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
        return new HashSet<>(sql.read(LOCK_SKIP_LOCKED, (row, number) -> row.getLong(1), ids));
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
        return sql.queryRows(RELEASE_SKIP_LOCKED, (row, number) -> row.getLong(1), ids, permitIds, permitIds);
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
}
