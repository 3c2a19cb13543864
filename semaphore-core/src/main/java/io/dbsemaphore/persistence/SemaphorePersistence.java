package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.persistence.audit.CapacityHistory;
import io.dbsemaphore.persistence.instance.RegisteredInstances;
import io.dbsemaphore.persistence.unit.DatabaseClockFunctions;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import io.dbsemaphore.persistence.unit.LibrarySqlLogger;
import io.dbsemaphore.persistence.unit.MySqlRowLockDialect;
import io.dbsemaphore.persistence.unit.QuietJdbcEnvironment;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.StartStatements;
import io.dbsemaphore.persistence.unit.TablePrefix;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import io.dbsemaphore.persistence.waiting.InstanceQueues;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.SharedCacheMode;
import jakarta.persistence.ValidationMode;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.CacheSettings;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.hibernate.cfg.ValidationSettings;
import org.hibernate.engine.jdbc.spi.SqlStatementLogger;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.transaction.jta.platform.internal.NoJtaPlatform;
import org.hibernate.engine.transaction.jta.platform.spi.JtaPlatform;
import org.hibernate.resource.jdbc.spi.PhysicalConnectionHandlingMode;
import org.jspecify.annotations.Nullable;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaDialect;

/**
 * The library's own persistence unit, on the host's database but separate from the host's JPA: its entities are listed
 * explicitly, its repositories are created programmatically, and none of it is a bean, so that the host's scanning does not
 * find it. Hibernate is bootstrapped natively, since a container bootstrap would read the host's {@code persistence.xml}
 * and {@code orm.xml}.
 */
public record SemaphorePersistence(
        SessionFactory sessionFactory,
        LazyRepositories repositories,
        GrantTransaction grants,
        AvailabilityTransactions availabilityTransactions,
        ReleaseTransaction releases,
        RenewTransaction renewals,
        KeepAliveTransaction keepAlive,
        UndoTransaction undoing,
        AdminTransactions admin,
        ReportTransactions reports,
        InstanceTransactions instances,
        MaintenanceTransactions maintenance)
        implements AutoCloseable {

    /** The entities of the library. */
    public static final List<Class<?>> ENTITIES = List.of(
            Semaphore.class,
            PermitRequest.class,
            Permit.class,
            CapacityHistory.ENTITY,
            RegisteredInstances.ENTITY,
            InstanceQueues.ENTITY);

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
        SessionFactory sessionFactory = sessionFactory(dataSource, database, tablePrefix);
        EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(sessionFactory);
        LazyRepositories repositories = new LazyRepositories(entityManager);
        Sql sql = new Sql(entityManager);
        SessionFactoryImplementor mapping = sessionFactory.unwrap(SessionFactoryImplementor.class);
        SemaphoreRepository semaphores = repositories.get(
                SemaphoreRepository.class, SemaphoreStatements.class, new SemaphoreStatementsImpl(sql, tablePrefix));
        PermitRequestRepository requests = repositories.get(
                PermitRequestRepository.class,
                PermitRequestStatements.class,
                new PermitRequestStatementsImpl(
                        sql, new RowInsert<>(mapping, PermitRequest.class, sql), database, tablePrefix));
        PermitRepository permits = repositories.get(
                PermitRepository.class,
                PermitStatements.class,
                new PermitStatementsImpl(
                        sql, new RowInsert<>(mapping, Permit.class, sql), database, tablePrefix, channel));
        InstanceQueues queues = new InstanceQueues(repositories, mapping, sql, tablePrefix);
        RegisteredInstances registered = new RegisteredInstances(repositories, suspectGrace);
        TimeOrderedIds ids = new TimeOrderedIds();
        CapacityHistory history = new CapacityHistory(repositories, ids, sql, database.utcNow(), tablePrefix);
        SemaphoreReports reports = repositories.get(SemaphoreReports.class);

        ShortTransaction transaction = new ShortTransaction(transactionManager(sessionFactory, dataSource), dataSource);
        SemaphoreDirectory directory = new SemaphoreDirectory(semaphores);
        StartStatements start = new StartStatements(sql, database, tablePrefix, ENTITIES);
        GrantLookup lookup = new GrantLookup(entityManager, requests, permits);
        RequestReclaim reclaim = new RequestReclaim(requests, permits, registered, history);

        ReleaseTransaction releases = new ReleaseTransaction(transaction, requests, permits, semaphores);
        GrantTransaction grants = new GrantTransaction(
                transaction,
                releases,
                directory,
                new RepeatedCommands(requests, lookup),
                new ReclaimForAcquire(requests, permits, registered, reclaim),
                new EarliestExpiries(requests),
                semaphores,
                requests,
                permits,
                queues,
                ids);
        return new SemaphorePersistence(
                sessionFactory,
                repositories,
                grants,
                new AvailabilityTransactions(transaction, semaphores, directory, requests, registered, queues),
                releases,
                new RenewTransaction(transaction, requests, lookup),
                new KeepAliveTransaction(transaction, requests, history),
                new UndoTransaction(transaction, requests, releases, ids),
                new AdminTransactions(
                        transaction,
                        semaphores,
                        directory,
                        new RowInsert<>(mapping, Semaphore.class, sql),
                        start,
                        history,
                        lookup,
                        releases,
                        ids),
                new ReportTransactions(transaction, semaphores, requests, reports, start, history),
                new InstanceTransactions(transaction, registered),
                new MaintenanceTransactions(
                        transaction, requests, permits, semaphores, registered, history, queues, reclaim));
    }

    /** Loads what the first acquire needs, which would otherwise take a second of CPU time more. */
    public void warmUp() {
        repositories.createWithFragments();
        admin.warmUp();
    }

    @Override
    public void close() {
        sessionFactory.close();
    }

    private static SessionFactory sessionFactory(
            SemaphoreDataSource dataSource, Database database, String tablePrefix) {
        Configuration unit = new Configuration()
                .setPhysicalNamingStrategy(new TablePrefix(tablePrefix))
                .registerFunctionContributor(new DatabaseClockFunctions(database));
        ENTITIES.forEach(unit::addAnnotatedClass);
        unit.setSharedCacheMode(SharedCacheMode.NONE);
        Properties settings = unit.getProperties();
        settings.put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, dataSource);
        if (database == Database.MYSQL) {
            settings.put(JdbcSettings.DIALECT, MySqlRowLockDialect.class);
        }
        settings.put(SchemaToolingSettings.HBM2DDL_AUTO, "none");
        settings.put(ValidationSettings.JAKARTA_VALIDATION_MODE, ValidationMode.NONE);
        // the library reports its failures itself, with what they mean, and repeats what can be repeated
        settings.put(JdbcSettings.LOG_JDBC_ERRORS, false);
        settings.put(JdbcSettings.LOG_JDBC_WARNINGS, false);
        settings.put(CacheSettings.USE_SECOND_LEVEL_CACHE, false);
        settings.put(CacheSettings.USE_QUERY_CACHE, false);
        // binds LocalDateTime directly: java.sql.Timestamp would shift values in hours that the JVM's zone skips
        settings.put(MappingSettings.JAVA_TIME_USE_DIRECT_JDBC, true);
        // required by Spring's transaction manager, and provided by SemaphoreDataSource
        settings.put(JdbcSettings.CONNECTION_HANDLING, PhysicalConnectionHandlingMode.DELAYED_ACQUISITION_AND_HOLD);
        settings.put(JdbcSettings.CONNECTION_PROVIDER_DISABLES_AUTOCOMMIT, true);
        unit.getStandardServiceRegistryBuilder()
                .addService(SqlStatementLogger.class, new LibrarySqlLogger())
                .addService(JtaPlatform.class, NoJtaPlatform.INSTANCE) // a setting would be logged
                .addInitiator(new QuietJdbcEnvironment());
        return unit.buildSessionFactory();
    }

    private static JpaTransactionManager transactionManager(
            EntityManagerFactory factory, SemaphoreDataSource dataSource) {
        JpaTransactionManager transactionManager = new JpaTransactionManager(factory);
        transactionManager.setJpaDialect(new HibernateJpaDialect());
        transactionManager.setDataSource(dataSource);
        transactionManager.afterPropertiesSet();
        return transactionManager;
    }
}
