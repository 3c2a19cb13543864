package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.persistence.unit.HeldRows;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

final class PermitRequestStatementsImpl extends HeldRows<PermitRequest> implements PermitRequestStatements {

    private final String touch;
    private final String release;
    private final String renewal;
    private final boolean releasesSkipLocked;
    private final String permits;
    private final boolean locksUncommittedRows;
    private final String lockExternalId;
    private final String delete;
    private final String notExpired;

    PermitRequestStatementsImpl(Sql sql, RowInsert<PermitRequest> insert, Database database, String tablePrefix) {
        super(sql, insert, tablePrefix + "permit_request");
        String now = database.utcNow();
        String expiry = database.utcPlusMillis().replace("?1", "ttl_millis");
        this.touch = "update " + table + " set updated_at = " + now;
        this.release = "update " + table + " set state = 'RELEASED', updated_at = " + now;
        this.renewal = touch + ", renewed_at = " + now + ", expires_at = " + expiry;
        this.releasesSkipLocked = database.returnsUpdatedRows();
        this.permits = tablePrefix + "permit";
        this.locksUncommittedRows = database.locksUncommittedRows();
        this.lockExternalId = "select id from " + table + " where external_id = ? for update";
        this.delete = "delete from " + table + " where id = ?";
        this.notExpired = " and expires_at > " + now + " and expires_at < " + expiry;
    }

    @Override
    public void queueLockOfExternalId(String externalId) {
        if (locksUncommittedRows) {
            sql.query(lockExternalId, List.of(externalId), ResultSet::next);
        }
    }

    @Override
    public void queueWaitForExternalId(String externalId, Supplier<PermitRequest> row) {
        queueLockOfExternalId(externalId);
        if (!locksUncommittedRows) {
            PermitRequest inserted = row.get();
            insertAll(List.of(inserted));
            sql.update(delete, List.of(inserted.id()));
        }
    }

    @Override
    public Supplier<Integer> queueRelease(Collection<Long> ids) {
        return sql.update(release + held(ids), ids);
    }

    @Override
    public boolean releasesSkipLocked() {
        return releasesSkipLocked;
    }

    @Override
    public Supplier<Set<Long>> queueReleaseSkipLocked(Collection<Long> ids, Collection<Long> permitIds) {
        List<Long> values = new ArrayList<>(ids);
        values.addAll(permitIds);
        values.addAll(permitIds);
        String held = " where id in " + Sql.placeholders(permitIds) + " and state = 'ACQUIRED'";
        return sql.query(
                release + held(ids) + " and id not in (select permit_request_id from " + permits + held
                        + " and id <> all (array(select id from " + permits + held
                        + " for update skip locked))) returning id",
                values,
                HeldRows::ids);
    }

    @Override
    public Supplier<Integer> queueRenewal(Collection<Long> ids) {
        return sql.update(renewal + held(ids) + notExpired, ids);
    }

    @Override
    public void queueTouch(Collection<Long> ids) {
        sql.update(touch + held(ids), ids);
    }

    private static String held(Collection<Long> ids) {
        return " where id in " + Sql.placeholders(ids) + " and state = 'ACQUIRED'";
    }
}
