package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StaleSemaphoreException;
import io.dbsemaphore.domain.TimeOrderedIds;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.DatabaseClockFunctions;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import io.dbsemaphore.persistence.unit.LibrarySqlLogger;
import io.dbsemaphore.persistence.unit.MySqlRowLockDialect;
import io.dbsemaphore.persistence.unit.QuietJdbcEnvironment;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TablePrefix;
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
import org.hibernate.resource.jdbc.spi.PhysicalConnectionHandlingMode;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaDialect;

/**
 * A persistence unit of the library's own, on the host's database but beside the host's JPA: its entities are named one
 * by one, its repositories made by hand, and none of it is a bean, so that no host finds, scans or counts it. Hibernate
 * is started natively, since a container's bootstrap would read the host's {@code persistence.xml} and {@code orm.xml}.
 */
public final class SemaphorePersistence implements AutoCloseable {

    /** The entities of the library. */
    public static final List<Class<?>> ENTITIES =
            List.of(Semaphore.class, PermitRequest.class, Permit.class, CapacityAudit.class, SemaphoreInstance.class);

    private final SessionFactory sessionFactory;
    private final GrantTransaction grants;
    private final AvailabilityTransactions availabilityTransactions;
    private final ReleaseTransaction releases;
    private final RenewTransaction renewals;
    private final KeepAliveTransaction keepAlive;
    private final UndoTransaction undoing;
    private final AdminTransactions admin;
    private final InstanceTransactions instances;
    private final MaintenanceTransactions maintenance;

    /**
     * Starts the persistence unit.
     *
     * @param tablePrefix what the names of the tables begin with; empty by default
     * @param silenceGrace how long an instance must be overdue before it counts as dead
     */
    public SemaphorePersistence(
            SemaphoreDataSource dataSource, Database database, String tablePrefix, Duration silenceGrace) {
        sessionFactory = sessionFactory(dataSource, database, tablePrefix);
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
                new PermitStatementsImpl(sql, new RowInsert<>(mapping, Permit.class, sql), database, tablePrefix));
        InstanceRepository instanceRows = repositories.get(InstanceRepository.class);
        CapacityAuditRepository audits = repositories.get(CapacityAuditRepository.class);
        SemaphoreReports reports = repositories.get(SemaphoreReports.class);

        ShortTransaction transaction = new ShortTransaction(transactionManager(sessionFactory, dataSource), dataSource);
        TimeOrderedIds ids = new TimeOrderedIds();
        SemaphoreDirectory directory = new SemaphoreDirectory(semaphores);
        GrantLookup lookup = new GrantLookup(entityManager, requests, permits);
        SuspectInstances silent = new SuspectInstances(silenceGrace);
        RequestReclaim orphans = new RequestReclaim(requests, permits, silent);

        releases = new ReleaseTransaction(transaction, requests, permits, semaphores);
        grants = new GrantTransaction(
                transaction,
                releases,
                directory,
                new RepeatedCommands(requests, lookup),
                new ReclaimForAcquire(requests, permits, instanceRows, silent, orphans),
                new EarliestExpiries(requests),
                semaphores,
                requests,
                permits,
                ids);
        availabilityTransactions =
                new AvailabilityTransactions(transaction, semaphores, directory, requests, instanceRows, silent);
        renewals = new RenewTransaction(transaction, requests, lookup);
        undoing = new UndoTransaction(transaction, requests, releases, ids);
        admin = new AdminTransactions(transaction, semaphores, directory, reports, audits, lookup, releases, ids);
        keepAlive = new KeepAliveTransaction(transaction, requests);
        instances = new InstanceTransactions(transaction, instanceRows);
        maintenance = new MaintenanceTransactions(
                transaction, requests, permits, semaphores, instanceRows, audits, silent, orphans);
    }

    /** The transaction that grants. */
    public GrantTransaction grants() {
        return grants;
    }

    /** How full semaphores are. */
    public AvailabilityTransactions availabilityTransactions() {
        return availabilityTransactions;
    }

    /** The transaction that releases. */
    public ReleaseTransaction releases() {
        return releases;
    }

    /** The transaction that renews. */
    public RenewTransaction renewals() {
        return renewals;
    }

    /** The transaction that keeps alive. */
    public KeepAliveTransaction keepAlive() {
        return keepAlive;
    }

    /** The transaction that undoes an acquire of unknown fate. */
    public UndoTransaction undoing() {
        return undoing;
    }

    /** The heartbeat of this JVM. */
    public InstanceTransactions instances() {
        return instances;
    }

    /** The batches of the maintenance. */
    public MaintenanceTransactions maintenance() {
        return maintenance;
    }

    /** The transactions of operators. */
    public AdminTransactions admin() {
        return admin;
    }

    /** Whether this failed because a table is not there. */
    public static boolean isMissingTable(Throwable failure) {
        return SqlErrors.isMissingTable(failure);
    }

    /** Whether this failed because a column is not there. */
    public static boolean isMissingColumn(Throwable failure) {
        return SqlErrors.isMissingColumn(failure);
    }

    /** Whether the same work may succeed in a new transaction. */
    public static boolean isWorthRepeating(Throwable failure) {
        return isConnectionBroken(failure)
                || failure instanceof StaleSemaphoreException
                || SqlErrors.isConflict(failure)
                || SqlErrors.isDuplicateKey(failure)
                || SqlErrors.isReadOnly(failure); // of a session that has outlived a failover
    }

    /** Whether a connection broke, so that the same work may succeed on another one as soon as that can be had. */
    public static boolean isConnectionBroken(Throwable failure) {
        return failure instanceof CommitOutcomeUnknownException
                || (SqlErrors.isConnectionLost(failure) && !SqlErrors.isPoolExhausted(failure));
    }

    /** Whether the database could not be reached, or went away: no fault of what was asked of it. */
    public static boolean isUnreachable(Throwable failure) {
        return SqlErrors.isConnectionLost(failure)
                || SqlErrors.isPoolExhausted(failure)
                || SqlErrors.isReadOnly(failure);
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
        settings.put(CacheSettings.USE_SECOND_LEVEL_CACHE, false);
        settings.put(CacheSettings.USE_QUERY_CACHE, false);
        // a LocalDateTime as it is; by way of java.sql.Timestamp it moves where the JVM's zone skips an hour
        settings.put(MappingSettings.JAVA_TIME_USE_DIRECT_JDBC, true);
        // what Spring's transaction manager expects of Hibernate, and what SemaphoreDataSource hands out
        settings.put(JdbcSettings.CONNECTION_HANDLING, PhysicalConnectionHandlingMode.DELAYED_ACQUISITION_AND_HOLD);
        settings.put(JdbcSettings.CONNECTION_PROVIDER_DISABLES_AUTOCOMMIT, true);
        unit.getStandardServiceRegistryBuilder()
                .addService(SqlStatementLogger.class, new LibrarySqlLogger())
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
