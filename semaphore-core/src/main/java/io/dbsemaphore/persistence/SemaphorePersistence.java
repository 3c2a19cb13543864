package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.persistence.unit.PersistenceUnit;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The library's own persistence unit, on the host's database but separate from the host's JPA. Its entities are listed
 * explicitly, its repositories are created by code, and none of it is a bean, so that the host's scanning does not find it.
 */
public record SemaphorePersistence(
        Sql sql,
        PersistenceUnit unit,
        BatchTransaction batches,
        AvailabilityTransactions availabilityTransactions,
        HoldTransactions holds,
        UndoTransaction undoing,
        AdminTransactions admin,
        MaintenanceTransactions maintenance) {

    /** The entities of the library. */
    public static final List<Class<?>> ENTITIES = List.of(
            Semaphore.class,
            PermitRequest.class,
            Permit.class,
            CapacityAudit.class,
            SemaphoreInstance.class,
            SemaphoreWaiter.class,
            SemaphoreShare.class);

    /**
     * Prepares the transactions, without executing a statement. {@linkplain PersistenceUnit Hibernate} starts when it is needed.
     *
     * @param tablePrefix the prefix of the table names; empty by default
     * @param suspectGrace how long an instance must be overdue before it counts as dead
     * @param channel the channel on which instances notify one another of releases; null without notifications
     */
    public static SemaphorePersistence open(
            Sessions sessions,
            Database database,
            String tablePrefix,
            Duration suspectGrace,
            Duration oneTripFrom,
            @Nullable ReleaseChannel channel) {
        Sql sql = new Sql(sessions, database, tablePrefix);
        PersistenceUnit unit = new PersistenceUnit(sessions, sql::translated, ENTITIES);
        TimeOrderedIds ids = new TimeOrderedIds(System::currentTimeMillis);
        SemaphoreTable semaphores =
                new SemaphoreTable(sql, unit::isStarted, unit.repository(SemaphoreRepository.class));
        Tables tables = new Tables(
                sql,
                semaphores,
                new PermitRequestTable(sql, database),
                new PermitTable(sql, channel),
                new WaiterTable(sql, semaphores),
                new ShareTable(sql),
                new InstanceTable(sql, new InstanceTable.Suspects(suspectGrace, System::nanoTime)),
                new CapacityHistory(sql, ids),
                unit.repository(SemaphoreReports.class),
                unit.repository(MaintenanceRepository.class),
                ids);
        ShortTransaction transaction = new ShortTransaction(sessions, unit);
        RequestReclaim reclaim = new RequestReclaim(tables);
        return new SemaphorePersistence(
                sql,
                unit,
                new BatchTransaction(transaction, tables, reclaim, new OneTripGrants(tables, oneTripFrom)),
                new AvailabilityTransactions(transaction, tables, reclaim),
                new HoldTransactions(transaction, tables),
                new UndoTransaction(transaction, tables),
                new AdminTransactions(transaction, tables),
                new MaintenanceTransactions(transaction, tables, reclaim));
    }
}
