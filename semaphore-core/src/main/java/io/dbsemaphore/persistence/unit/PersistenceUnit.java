package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Sessions;
import jakarta.persistence.SharedCacheMode;
import jakarta.persistence.ValidationMode;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.CacheSettings;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.hibernate.cfg.ValidationSettings;
import org.hibernate.dialect.function.StandardSQLFunction;
import org.hibernate.engine.jdbc.connections.internal.UserSuppliedConnectionProviderImpl;
import org.hibernate.engine.jdbc.internal.Formatter;
import org.hibernate.engine.jdbc.spi.SqlStatementLogger;
import org.hibernate.engine.transaction.jta.platform.internal.NoJtaPlatform;
import org.hibernate.engine.transaction.jta.platform.spi.JtaPlatform;
import org.hibernate.event.spi.EventSource;
import org.hibernate.resource.jdbc.spi.StatementInspector;
import org.hibernate.type.StandardBasicTypes;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.query.QueryEnhancerFactories;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The library's own Hibernate, for the repositories. It starts before the first transaction that uses a repository. Acquires, releases and
 * renewals are SQL: an application that does nothing else never starts it. It is bootstrapped natively, because a container bootstrap would
 * read the host's {@code persistence.xml} and {@code orm.xml}. The entities are listed, so that nothing is scanned, and the only settings
 * are those in this class.
 */
public final class PersistenceUnit implements AutoCloseable {

    private final Sessions sessions;
    private final UnaryOperator<String> translation;
    private final Collection<Class<?>> entities;
    private final Set<Class<?>> repositories = new HashSet<>();
    private volatile @Nullable Started started;
    private volatile boolean closed;

    /** Callers wait here for one start, which occupies one database thread. A database thread never takes this lock. */
    private final Object callers = new Object();

    private record Started(SessionFactory sessionFactory, Map<Class<?>, Object> repositories) {}

    /**
     * Creates a persistence unit, which is not started.
     *
     * @param translation adapts a statement with the names of the changelog to the database, see {@link Sql#translated}
     */
    public PersistenceUnit(Sessions sessions, UnaryOperator<String> translation, Collection<Class<?>> entities) {
        this.sessions = sessions;
        this.translation = translation;
        this.entities = entities;
    }

    /**
     * Starts Hibernate unless it has been started. That takes seconds of CPU time, and must not be done within a transaction.
     * Concurrent callers wait for one start. After a failure, the next caller tries again.
     *
     * @throws RuntimeException if the database cannot be reached, or the unit is closed
     */
    public void start() {
        if (started != null && !closed) {
            return;
        }
        if (sessions.threads().areCurrent()) {
            startHere();
        } else {
            synchronized (callers) {
                sessions.threads().call(this::startHere);
            }
        }
    }

    private synchronized Started startHere() {
        if (closed) {
            throw new IllegalStateException("The persistence unit of the semaphores is closed");
        }
        Started current = started;
        if (current == null) {
            try {
                current = open();
            } catch (RuntimeException failure) {
                throw TransactionFailures.translate(failure);
            }
            started = current;
        }
        return current;
    }

    public boolean isStarted() {
        return started != null;
    }

    /**
     * Supplies a repository, whose methods take part in the transaction of the calling thread. Must be called before the start, which
     * creates the repository: its queries must not be translated within a transaction.
     */
    public <T> Supplier<T> repository(Class<T> type) {
        repositories.add(type);
        return () -> {
            join();
            return type.cast(current().repositories().get(type));
        };
    }

    private Started current() {
        Started current = started;
        if (current == null) {
            throw new IllegalStateException(
                    "A repository is used in a transaction that has not started Hibernate before");
        }
        return current;
    }

    /** Opens a session of Hibernate on the connection of the transaction, which is later committed without Hibernate. */
    private void join() {
        SessionFactory factory = current().sessionFactory();
        Connection connection = connection(); // at each use, to send the queued statements
        if (TransactionSynchronizationManager.hasResource(factory)) {
            return;
        }
        Session session = factory.withOptions().connection(connection).openSession();
        session.setHibernateFlushMode(FlushMode.MANUAL); // no entity is changed
        session.beginTransaction(); // otherwise Hibernate refuses to lock
        EntityManagerHolder holder = new EntityManagerHolder(session);
        holder.setSynchronizedWithTransaction(true);
        TransactionSynchronizationManager.bindResource(factory, holder);
    }

    private Connection connection() {
        try {
            return sessions.current().connection();
        } catch (SQLException failure) {
            throw new UncategorizedSQLException("semaphore transaction", null, failure);
        }
    }

    /** Closes the session of Hibernate, if the transaction of the calling thread has used a repository. */
    void leave() {
        Started current = started;
        if (current != null
                && TransactionSynchronizationManager.unbindResourceIfPossible(current.sessionFactory())
                        instanceof EntityManagerHolder holder) {
            EventSource session = holder.getEntityManager().unwrap(EventSource.class);
            session.getActionQueue().executePendingBulkOperationCleanUpActions(); // avoids a warning
            session.close();
        }
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
        SessionFactory factory;
        try {
            factory = sessionFactory(server());
        } catch (SQLException failure) {
            throw new CannotGetJdbcConnectionException("Hibernate cannot start", failure);
        }
        JpaRepositoryFactory created =
                new JpaRepositoryFactory(SharedEntityManagerCreator.createSharedEntityManager(factory));
        // the thread's context class loader may not see the package-private interfaces
        created.setBeanClassLoader(PersistenceUnit.class.getClassLoader());
        // Spring Data sorts or pages no query of the library, and its parser of HQL takes time
        created.setQueryEnhancerSelector(query -> QueryEnhancerFactories.fallback());
        return new Started(
                factory,
                repositories.stream().collect(Collectors.toMap(type -> type, type -> created.getRepository(type))));
    }

    /** The settings that describe the database. Hibernate gets no connection for its start, which takes seconds. */
    private Map<String, Object> server() throws SQLException {
        sessions.begin();
        try {
            DatabaseMetaData server = connection().getMetaData();
            return Map.of(
                    JdbcSettings.JAKARTA_HBM2DDL_DB_NAME, server.getDatabaseProductName(),
                    JdbcSettings.JAKARTA_HBM2DDL_DB_VERSION, server.getDatabaseProductVersion(),
                    JdbcSettings.JAKARTA_HBM2DDL_DB_MAJOR_VERSION, server.getDatabaseMajorVersion(),
                    JdbcSettings.JAKARTA_HBM2DDL_DB_MINOR_VERSION, server.getDatabaseMinorVersion(),
                    JdbcSettings.ALLOW_METADATA_ON_BOOT, false);
        } finally {
            sessions.end();
        }
    }

    /** Creates a factory whose sessions use given connections. */
    private SessionFactory sessionFactory(Map<String, Object> server) {
        Configuration unit = new Configuration();
        // drops the host's hibernate.properties and the system properties: naming, dialect, schema tools, tenants
        unit.getProperties().clear();
        unit.getStandardServiceRegistryBuilder().clearSettings();
        entities.forEach(unit::addAnnotatedClass);
        for (String clock : List.of("utc_now", "utc_plus_millis")) { // replaced by the translation
            unit.addSqlFunction(clock, new StandardSQLFunction(clock, StandardBasicTypes.LOCAL_DATE_TIME));
        }
        unit.setSharedCacheMode(SharedCacheMode.NONE);
        Properties settings = unit.getProperties();
        settings.putAll(server);
        settings.put(JdbcSettings.CONNECTION_PROVIDER, new UserSuppliedConnectionProviderImpl());
        settings.put(JdbcSettings.STATEMENT_INSPECTOR, (StatementInspector) translation::apply);
        settings.put(SchemaToolingSettings.HBM2DDL_AUTO, "none");
        settings.put(ValidationSettings.JAKARTA_VALIDATION_MODE, ValidationMode.NONE);
        // the library reports and explains its failures itself, and repeats transactions
        settings.put(JdbcSettings.LOG_JDBC_ERRORS, false);
        settings.put(JdbcSettings.LOG_JDBC_WARNINGS, false);
        settings.put(CacheSettings.USE_SECOND_LEVEL_CACHE, false);
        settings.put(CacheSettings.USE_QUERY_CACHE, false);
        // java.sql.Timestamp would shift values in hours that the JVM's time zone skips
        settings.put(MappingSettings.JAVA_TIME_USE_DIRECT_JDBC, true);
        settings.put(JdbcSettings.CONNECTION_PROVIDER_DISABLES_AUTOCOMMIT, true);
        unit.getStandardServiceRegistryBuilder()
                .addService(SqlStatementLogger.class, new SqlStatementLogger() {
                    @Override
                    public void logStatement(String statement, Formatter formatter) {
                        // org.hibernate.SQL is for the application's statements; the translation logs the library's
                    }
                })
                .addService(JtaPlatform.class, NoJtaPlatform.INSTANCE); // unlike a setting, a service is not logged
        return unit.buildSessionFactory();
    }
}
