package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import jakarta.persistence.SharedCacheMode;
import jakarta.persistence.ValidationMode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.Properties;
import java.util.function.Supplier;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.boot.model.FunctionContributions;
import org.hibernate.boot.model.FunctionContributor;
import org.hibernate.boot.model.naming.Identifier;
import org.hibernate.boot.model.naming.PhysicalNamingStrategyStandardImpl;
import org.hibernate.cfg.CacheSettings;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.hibernate.cfg.ValidationSettings;
import org.hibernate.dialect.MySQLDialect;
import org.hibernate.dialect.RowLockStrategy;
import org.hibernate.engine.jdbc.connections.spi.DatabaseConnectionInfo;
import org.hibernate.engine.jdbc.dialect.spi.DialectResolutionInfo;
import org.hibernate.engine.jdbc.env.internal.JdbcEnvironmentInitiator;
import org.hibernate.engine.jdbc.env.spi.JdbcEnvironment;
import org.hibernate.engine.jdbc.internal.Formatter;
import org.hibernate.engine.jdbc.spi.SqlStatementLogger;
import org.hibernate.engine.transaction.jta.platform.internal.NoJtaPlatform;
import org.hibernate.engine.transaction.jta.platform.spi.JtaPlatform;
import org.hibernate.query.sqm.function.SqmFunctionRegistry;
import org.hibernate.resource.jdbc.spi.PhysicalConnectionHandlingMode;
import org.hibernate.type.BasicType;
import org.hibernate.type.BasicTypeRegistry;
import org.hibernate.type.descriptor.java.LocalDateTimeJavaType;
import org.hibernate.type.descriptor.jdbc.LocalDateTimeJdbcType;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.query.QueryEnhancerFactories;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Hibernate beside the application's, for the repositories. It starts before the first transaction that uses one: acquires, releases
 * and renewals are SQL, so that an application that does nothing else never has it. It is bootstrapped natively, since a
 * container bootstrap would read the host's {@code persistence.xml} and {@code orm.xml}; the entities are listed explicitly, so that
 * nothing is scanned.
 */
public final class PersistenceUnit implements AutoCloseable {

    private final SemaphoreDataSource dataSource;
    private final Database database;
    private final String tablePrefix;
    private final Collection<Class<?>> entities;
    private volatile @Nullable Started started;
    private boolean closed;

    private record Started(SessionFactory sessionFactory, JpaRepositoryFactory repositories) {}

    /** A persistence unit that has not been started. */
    public PersistenceUnit(
            SemaphoreDataSource dataSource, Database database, String tablePrefix, Collection<Class<?>> entities) {
        this.dataSource = dataSource;
        this.database = database;
        this.tablePrefix = tablePrefix;
        this.entities = entities;
    }

    /**
     * Starts Hibernate unless it has been started. That takes seconds of CPU time, so that it must not be done within a transaction.
     * Concurrent callers wait for one start. A start that failed is repeated by the next caller.
     *
     * @throws RuntimeException if the database cannot be reached, or the unit is closed
     */
    public void start() {
        if (started == null) {
            startOnce();
        }
    }

    private synchronized void startOnce() {
        if (closed) {
            throw new IllegalStateException("The persistence unit of the semaphores is closed");
        }
        if (started == null) {
            try {
                started = dataSource.threads().call(this::open);
            } catch (RuntimeException failure) {
                throw DataAccessFailures.translate(failure);
            }
        }
    }

    public boolean isStarted() {
        return started != null;
    }

    /** A repository, whose methods take part in the transaction of the calling thread. It is created when it is first asked for. */
    public <T> Supplier<T> repository(Class<T> type) {
        Supplier<T> created = SingletonSupplier.of(() -> create(type))::obtain;
        return () -> {
            join();
            return created.get();
        };
    }

    /** Synchronized, because the factory is not thread-safe. */
    private synchronized <T> T create(Class<T> type) {
        return current().repositories().getRepository(type);
    }

    private Started current() {
        Started current = started;
        if (current == null) {
            throw new IllegalStateException(
                    "A repository is used in a transaction that has not started Hibernate before");
        }
        return current;
    }

    /** Opens a session of Hibernate on the connection of the transaction, which is committed without it. */
    private void join() {
        SessionFactory factory = current().sessionFactory();
        if (TransactionSynchronizationManager.hasResource(factory)) {
            return;
        }
        Session session = factory.withOptions()
                .connection(DataSourceUtils.getConnection(dataSource))
                .openSession();
        session.setHibernateFlushMode(FlushMode.MANUAL); // no entity is changed
        session.beginTransaction(); // or it would refuse to lock
        EntityManagerHolder holder = new EntityManagerHolder(session);
        holder.setSynchronizedWithTransaction(true);
        TransactionSynchronizationManager.bindResource(factory, holder);
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                TransactionSynchronizationManager.unbindResource(factory);
                session.close();
            }
        });
    }

    @Override
    public synchronized void close() {
        closed = true;
        Started current = started;
        if (current != null) {
            current.sessionFactory().close();
        }
    }

    private Started open() {
        try (Connection reachable = dataSource.getConnection()) {
            // otherwise Hibernate would complain that it does not know the dialect
        } catch (SQLException failure) {
            throw new CannotGetJdbcConnectionException("Hibernate cannot start", failure);
        }
        SessionFactory factory = sessionFactory();
        JpaRepositoryFactory repositories =
                new JpaRepositoryFactory(SharedEntityManagerCreator.createSharedEntityManager(factory));
        // the thread's context class loader may not see the package-private interfaces
        repositories.setBeanClassLoader(PersistenceUnit.class.getClassLoader());
        // no query of the library is sorted or paged by Spring Data, whose parser of HQL would cost time
        repositories.setQueryEnhancerSelector(query -> QueryEnhancerFactories.fallback());
        return new Started(factory, repositories);
    }

    private SessionFactory sessionFactory() {
        Configuration unit = new Configuration()
                .setPhysicalNamingStrategy(new PrefixedTables(tablePrefix))
                .registerFunctionContributor(new ClockFunctions(database));
        entities.forEach(unit::addAnnotatedClass);
        unit.setSharedCacheMode(SharedCacheMode.NONE);
        Properties settings = unit.getProperties();
        settings.put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, dataSource);
        if (database == Database.MYSQL) {
            settings.put(JdbcSettings.DIALECT, RowLockDialect.class);
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
                .addService(SqlStatementLogger.class, new SqlLogger())
                .addService(JtaPlatform.class, NoJtaPlatform.INSTANCE) // a setting would be logged
                .addInitiator(new JdbcEnvironmentInitiator() {
                    @Override
                    protected void logConnectionInfo(DatabaseConnectionInfo info) {
                        // the same database as that of the application's own Hibernate, which logs it
                    }
                });
        return unit.buildSessionFactory();
    }

    /**
     * Functions for the database's clock in UTC. HQL's own {@code instant} and {@code local datetime} are in the time zone of
     * the session. Registered programmatically, since a service would also be found by the host's
     * Hibernate.
     */
    private static final class ClockFunctions implements FunctionContributor {

        private final Database database;

        ClockFunctions(Database database) {
            this.database = database;
        }

        @Override
        public void contributeFunctions(FunctionContributions contributions) {
            SqmFunctionRegistry functions = contributions.getFunctionRegistry();
            BasicTypeRegistry types = contributions.getTypeConfiguration().getBasicTypeRegistry();
            // LocalDateTime is read directly, as in the entities; the standard type converts by java.sql.Timestamp,
            // which
            // shifts values in hours that the JVM's zone skips, or if the zone has changed since the connection was
            // opened
            BasicType<LocalDateTime> utc =
                    types.resolve(LocalDateTimeJavaType.INSTANCE, LocalDateTimeJdbcType.INSTANCE);
            functions.registerPattern("utc_now", database.utcNow(), utc);
            functions.registerPattern("utc_plus_millis", database.utcPlusMillis(), utc);
        }
    }

    /**
     * MySQL with locks that name no table: {@code for update} instead of {@code for update of}. All locks of the library are on
     * one table, where both mean the same, and SQL filters know the shorter form.
     */
    public static final class RowLockDialect extends MySQLDialect {

        /** Made by Hibernate. */
        public RowLockDialect(DialectResolutionInfo info) {
            super(info);
        }

        @Override
        @SuppressWarnings("deprecation") // Hibernate still asks it
        public RowLockStrategy getWriteRowLockStrategy() {
            return RowLockStrategy.NONE;
        }
    }

    /** Adds the configured prefix to the names of the tables. */
    private static final class PrefixedTables extends PhysicalNamingStrategyStandardImpl {

        private static final long serialVersionUID = 1L;

        private final String prefix;

        PrefixedTables(String prefix) {
            this.prefix = prefix;
        }

        @Override
        public @Nullable Identifier toPhysicalTableName(@Nullable Identifier logicalName, JdbcEnvironment context) {
            return logicalName == null || prefix.isEmpty()
                    ? logicalName
                    : Identifier.toIdentifier(prefix + logicalName.getText(), logicalName.isQuoted());
        }
    }

    /**
     * Logs the SQL of the library's persistence unit under a separate logger name, so that {@code org.hibernate.SQL} shows the
     * statements of the application only, and those of the library can be disabled.
     */
    private static final class SqlLogger extends SqlStatementLogger {

        private static final long serialVersionUID = 1L;

        @Override
        public void logStatement(String statement, Formatter formatter) {
            Sql.log(statement);
        }
    }
}
