package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.springframework.data.domain.Limit;

/** The queues of all instances in the database. All methods require an open transaction. */
public final class InstanceQueues {

    public static final Class<?> ENTITY = SemaphoreWaiter.class;

    public static final Class<?> REPOSITORY = WaiterRepository.class;

    /** What the repository consists of besides its queries. */
    public static final List<Class<?>> FRAGMENTS = List.of(WaiterStatements.class, WaiterStatementsImpl.class);

    private final WaiterRepository rows;

    public InstanceQueues(
            LazyRepositories repositories, SessionFactoryImplementor mapping, Sql sql, String tablePrefix) {
        rows = repositories.get(
                WaiterRepository.class,
                WaiterStatements.class,
                new WaiterStatementsImpl(sql, new RowInsert<>(mapping, SemaphoreWaiter.class, sql), tablePrefix));
    }

    /** Begins a transaction that grants permits. */
    public BatchQueues batch(LocalQueues local) {
        return new BatchQueues(rows, local);
    }

    /** Reads the queues of the fair ones among these semaphores, which are given with their ids. */
    public PolledQueues poll(Map<String, Long> ids, LocalQueues local) {
        return PolledQueues.read(rows, ids, local);
    }

    /** Records that callers wait for these semaphores, whose rows are locked. */
    public void extend(Collection<Long> semaphoreIds, LocalDateTime now) {
        rows.queueAwaited(semaphoreIds, BatchQueues.awaitedUntil(now));
    }

    public void delete(long instance, Collection<Long> semaphoreIds) {
        new TreeSet<>(semaphoreIds).forEach(id -> rows.queueDelete(id, instance));
    }

    public void deleteAll(long instance) {
        delete(instance, rows.findSemaphoreIds(instance));
    }

    /** Deletes queues that their instances have not confirmed for so long. Returns how many were deleted. */
    public int deleteExpired(Duration overdueFor, int limit) {
        long minusMillis = -overdueFor.toMillis();
        return rows.findExpired(minusMillis, Limit.of(limit)).stream()
                .map(SemaphoreWaiter::key)
                .mapToInt(key -> rows.deleteExpired(key.semaphoreId(), key.instance(), minusMillis))
                .sum();
    }
}
