package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.InstanceQueue;
import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.Place;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.RowMapperResultSetExtractor;

final class WaiterStatementsImpl implements WaiterStatements {

    private static final ResultSetExtractor<List<InstanceQueue>> QUEUES =
            new RowMapperResultSetExtractor<>((row, number) -> new InstanceQueue(
                    row.getLong(1),
                    row.getLong(2),
                    WaiterList.decode(row.getString(4), Place.micros(row.getObject(3, LocalDateTime.class))),
                    row.getInt(5),
                    row.getObject(6, LocalDateTime.class)));

    private final Sql sql;
    private final RowInsert<SemaphoreWaiter> insert;
    private final String semaphores;
    private final String waiters;

    WaiterStatementsImpl(Sql sql, RowInsert<SemaphoreWaiter> insert, String tablePrefix) {
        this.sql = sql;
        this.insert = insert;
        this.semaphores = tablePrefix + "semaphore";
        this.waiters = tablePrefix + "semaphore_waiter";
    }

    @Override
    public Supplier<List<InstanceQueue>> queueFind(Collection<Long> semaphoreIds) {
        return sql.query(
                "select w.semaphore_id, w.instance, w.since, w.first_waiters, w.waiting, w.expires_at from " + waiters
                        + " w where w.semaphore_id in " + Sql.placeholders(semaphoreIds),
                semaphoreIds,
                QUEUES);
    }

    @Override
    public List<InstanceQueue> find(Collection<Long> semaphoreIds) {
        Supplier<List<InstanceQueue>> found = queueFind(semaphoreIds);
        sql.flush();
        return found.get();
    }

    @Override
    public void queueInsert(long semaphoreId, LocalQueues own, LocalQueue queue, LocalDateTime expiresAt) {
        insert.insertAll(List.of(new SemaphoreWaiter(semaphoreId, own, queue, expiresAt)));
    }

    @Override
    public void queueUpdate(long semaphoreId, long instance, LocalQueue queue, LocalDateTime expiresAt) {
        sql.update(
                "update " + waiters + " set since = ?, waiting = ?, first_waiters = ?, expires_at = ?"
                        + " where semaphore_id = ? and instance = ?",
                List.of(
                        queue.first().get(0).place().firstRefusedUtc(),
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
