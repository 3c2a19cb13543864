package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import io.dbsemaphore.persistence.unit.Sql;
import java.util.Collection;

/** The statements that keep many grants alive at once. */
final class KeepAliveStatements {

    private final Sql sql;
    private final String renewal;
    private final String touch;
    private final String notExpired;

    KeepAliveStatements(Sql sql, Database database, String tablePrefix) {
        String now = database.utcNow();
        String expiry = database.utcPlusMillis().replace("?1", "ttl_millis");
        String update = "update " + tablePrefix + "permit_request set updated_at = " + now;
        this.sql = sql;
        this.renewal = update + ", renewed_at = " + now + ", expires_at = " + expiry;
        this.touch = update;
        this.notExpired = " and expires_at > " + now + " and expires_at < " + expiry;
    }

    /**
     * Renews to now + their time to live those of these requests that are held and not expired; never shortens. Its
     * result is how many requests that were.
     */
    Result<Integer> renew(Collection<Long> ids) {
        return sql.queueUpdate(renewal + heldAmong(ids) + notExpired, ids);
    }

    /** Writes to those of these requests that are held, so that a cluster that certifies writes notices a conflict. */
    void touch(Collection<Long> ids) {
        sql.queueUpdate(touch + heldAmong(ids), ids);
    }

    private static String heldAmong(Collection<Long> ids) {
        return " where id in " + Sql.placeholders(ids) + " and state = 'ACQUIRED'";
    }
}
