package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.InstanceQueue;
import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.Waiter;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

final class WaiterStatementsImpl implements WaiterStatements {

    private final Sql sql;
    private final String semaphores;
    private final String waiters;

    WaiterStatementsImpl(Sql sql, String tablePrefix) {
        this.sql = sql;
        this.semaphores = tablePrefix + "semaphore";
        this.waiters = tablePrefix + "semaphore_waiter";
    }

    @Override
    public Supplier<List<InstanceQueue>> queueFind(Collection<Long> semaphoreIds) {
        return sql.query(
                "select w.semaphore_id, w.instance, w.since, w.first_waiters, w.waiting, w.expires_at from " + waiters
                        + " w where w.semaphore_id in " + Sql.placeholders(semaphoreIds),
                semaphoreIds,
                WaiterStatementsImpl::queues);
    }

    private static List<InstanceQueue> queues(ResultSet rows) throws SQLException {
        List<InstanceQueue> queues = new ArrayList<>();
        while (rows.next()) {
            long since = Waiter.micros(rows.getObject(3, LocalDateTime.class));
            queues.add(new InstanceQueue(
                    rows.getLong(1),
                    rows.getLong(2),
                    WaiterList.decode(rows.getString(4), since),
                    rows.getInt(5),
                    rows.getObject(6, LocalDateTime.class)));
        }
        return queues;
    }

    @Override
    public List<InstanceQueue> find(Collection<Long> semaphoreIds) {
        Supplier<List<InstanceQueue>> found = queueFind(semaphoreIds);
        sql.flush();
        return found.get();
    }

    @Override
    public void queueInsert(long semaphoreId, LocalQueues own, LocalQueue queue, LocalDateTime expiresAt) {
        sql.update(
                "insert into " + waiters
                        + "(semaphore_id, instance, owner, since, waiting, first_waiters, expires_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?)",
                List.of(
                        semaphoreId,
                        own.instance(),
                        own.owner(),
                        queue.first().get(0).sinceUtc(),
                        queue.size(),
                        WaiterList.encode(queue.first()),
                        expiresAt));
    }

    @Override
    public void queueUpdate(long semaphoreId, long instance, LocalQueue queue, LocalDateTime expiresAt) {
        sql.update(
                "update " + waiters + " set since = ?, waiting = ?, first_waiters = ?, expires_at = ?"
                        + " where semaphore_id = ? and instance = ?",
                List.of(
                        queue.first().get(0).sinceUtc(),
                        queue.size(),
                        WaiterList.encode(queue.first()),
                        expiresAt,
                        semaphoreId,
                        instance));
    }

    @Override
    public void queueDelete(long semaphoreId, long instance) {
        sql.update(
                "delete from " + waiters + " where semaphore_id = ? and instance = ?", List.of(semaphoreId, instance));
    }

    @Override
    public void queueAwaited(Collection<Long> semaphoreIds, LocalDateTime until) {
        List<@Nullable Object> values = new ArrayList<>();
        values.add(until);
        values.addAll(semaphoreIds);
        sql.update(
                "update " + semaphores + " set waiters_until = ? where id in " + Sql.placeholders(semaphoreIds),
                values);
    }
}
