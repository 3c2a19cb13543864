package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.persistence.unit.PersistenceUnit;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;
import java.util.List;
import org.hibernate.SessionFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.orm.jpa.SharedEntityManagerCreator;

/**
 * The library's own persistence unit, on the host's database but separate from the host's JPA: its entities are listed
 * explicitly, its repositories are created programmatically, and none of it is a bean, so that the host's scanning does not
 * find it.
 */
public record SemaphorePersistence(
        SessionFactory sessionFactory,
        BatchTransaction batches,
        AvailabilityTransactions availabilityTransactions,
        HoldTransactions holds,
        UndoTransaction undoing,
        AdminTransactions admin,
        ReportTransactions reports,
        MaintenanceTransactions maintenance)
        implements AutoCloseable {

    /** The entities of the library. */
    public static final List<Class<?>> ENTITIES = Tables.ENTITIES;

    /**
     * Starts the persistence unit.
     *
     * @param tablePrefix the prefix of the table names; empty by default
     * @param suspectGrace how long an instance must be overdue before it counts as dead
     * @param channel on which instances notify one another of releases; null without notifications
     */
    public static SemaphorePersistence open(
            SemaphoreDataSource dataSource,
            Database database,
            String tablePrefix,
            Duration suspectGrace,
            @Nullable ReleaseChannel channel) {
        SessionFactory sessionFactory = PersistenceUnit.sessionFactory(dataSource, database, tablePrefix, ENTITIES);
        Tables tables = Tables.of(
                SharedEntityManagerCreator.createSharedEntityManager(sessionFactory),
                database,
                tablePrefix,
                suspectGrace,
                channel);
        ShortTransaction transaction =
                new ShortTransaction(PersistenceUnit.transactionManager(sessionFactory, dataSource), dataSource);
        RequestReclaim reclaim = new RequestReclaim(tables);
        BatchTransaction batches = new BatchTransaction(transaction, tables, reclaim);
        return new SemaphorePersistence(
                sessionFactory,
                batches,
                new AvailabilityTransactions(transaction, tables),
                new HoldTransactions(transaction, tables),
                new UndoTransaction(transaction, tables),
                new AdminTransactions(transaction, tables, batches),
                new ReportTransactions(transaction, tables),
                new MaintenanceTransactions(transaction, tables, reclaim));
    }

    /** Loads what the first acquire needs, which would otherwise take a second of CPU time more. */
    public void warmUp() {
        admin.warmUp();
    }

    @Override
    public void close() {
        sessionFactory.close();
    }
}
