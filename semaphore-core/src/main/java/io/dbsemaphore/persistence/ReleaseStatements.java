package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The statements that release many requests at once. What somebody else has locked is passed over, not waited for. */
final class ReleaseStatements {

    private final Sql sql;
    private final String requests;
    private final String permits;
    private final String now;

    ReleaseStatements(Sql sql, Database database, String tablePrefix) {
        this.sql = sql;
        this.requests = tablePrefix + "permit_request";
        this.permits = tablePrefix + "permit";
        this.now = database.utcNow();
    }

    /** Locks those of the requests that are held and free, and returns their keys. */
    Set<Long> lockFreeRequests(Collection<Long> ids) {
        return lockFree(requests, ids);
    }

    /** Locks those of the permits that are held and free, and returns their keys. */
    Set<Long> lockFreePermits(Collection<Long> ids) {
        return lockFree(permits, ids);
    }

    /**
     * Locks those of the permits that are held, by the next round trip, which {@linkplain SqlErrors#isLockRefused fails} at
     * once when somebody else has locked one of them. With a hint for MySQL, which otherwise looks at all rows of a small
     * table, and comes upon locks of others.
     */
    Result<Set<Long>> lockPermits(Collection<Long> ids) {
        return sql.queueQuery(
                "select /*+ index(" + permits + " primary) */ " + heldAmong(permits, ids) + " for update nowait",
                ids,
                ReleaseStatements::ids);
    }

    private Set<Long> lockFree(String table, Collection<Long> ids) {
        return sql.query("select " + heldAmong(table, ids) + " for update skip locked", ids, ReleaseStatements::ids);
    }

    private static String heldAmong(String table, Collection<Long> ids) {
        return "id from " + table + " where id in " + Sql.placeholders(ids) + " and state = 'ACQUIRED' order by id";
    }

    private static Set<Long> ids(ResultSet rows) throws SQLException {
        Set<Long> ids = new HashSet<>();
        while (rows.next()) {
            ids.add(rows.getLong(1));
        }
        return ids;
    }

    /**
     * Releases this request, if it is held, and whatever permits it has: of a semaphore that was deleted, too, which no
     * lookup shows. The permits first, which a business transaction may have locked for long: while this waits for them, it
     * must not have locked the request, which is to be renewed. Its result is how many requests that were: one or none.
     */
    Result<Integer> release(long requestId) {
        sql.queueUpdate(
                "update " + permits + " set state = 'RELEASED' where permit_request_id = ? and state = 'ACQUIRED'",
                List.of(requestId));
        return sql.queueUpdate(
                "update " + requests + " set state = 'RELEASED', updated_at = " + now
                        + " where id = ? and state = 'ACQUIRED'",
                List.of(requestId));
    }

    /** Releases those of these requests that are held, and their permits. Its result is how many requests that were. */
    Result<Integer> release(Collection<Long> requestIds, Collection<Long> permitIds) {
        Result<Integer> released = sql.queueUpdate(
                "update " + requests + " set state = 'RELEASED', updated_at = " + now + " where id in "
                        + Sql.placeholders(requestIds) + " and state = 'ACQUIRED'",
                requestIds);
        if (!permitIds.isEmpty()) {
            sql.queueUpdate(
                    "update " + permits + " set state = 'RELEASED' where id in " + Sql.placeholders(permitIds)
                            + " and state = 'ACQUIRED'",
                    permitIds);
        }
        return released;
    }

    /** Has what is queued executed. */
    void flush() {
        sql.flush();
    }

    /** Whether it takes one round trip for all that is queued, and not one for each statement. */
    boolean areOneRoundTrip() {
        return sql.isOneRoundTrip();
    }
}
