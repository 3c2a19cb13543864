package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.SharedCacheMode;
import jakarta.persistence.ValidationMode;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.Properties;
import org.hibernate.SessionFactory;
import org.hibernate.boot.model.FunctionContributions;
import org.hibernate.boot.model.FunctionContributor;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.vendor.HibernateJpaDialect;

/**
 * Hibernate beside the application's. It is bootstrapped natively, since a container bootstrap would read the host's
 * {@code persistence.xml} and {@code orm.xml}; the entities are listed explicitly, so that nothing is scanned.
 */
public final class PersistenceUnit {

    private PersistenceUnit() {}

    /** Starts Hibernate. */
    public static SessionFactory sessionFactory(
            SemaphoreDataSource dataSource, Database database, String tablePrefix, Collection<Class<?>> entities) {
        Configuration unit = new Configuration()
                .setPhysicalNamingStrategy(new TablePrefix(tablePrefix))
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

    public static JpaTransactionManager transactionManager(
            EntityManagerFactory factory, SemaphoreDataSource dataSource) {
        JpaTransactionManager transactionManager = new JpaTransactionManager(factory);
        transactionManager.setJpaDialect(new HibernateJpaDialect());
        transactionManager.setDataSource(dataSource);
        transactionManager.afterPropertiesSet();
        return transactionManager;
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

    /**
     * Logs the SQL of the library's persistence unit under a separate logger name, so that {@code org.hibernate.SQL} shows the
     * statements of the application only, and those of the library can be disabled.
     */
    static final class SqlLogger extends SqlStatementLogger {

        private static final long serialVersionUID = 1L;
        private static final Logger log = LoggerFactory.getLogger("io.dbsemaphore.sql");

        @Override
        public void logStatement(String statement, Formatter formatter) {
            log(statement);
        }

        /** Logs a statement that is not executed by Hibernate. */
        static void log(String statement) {
            log.debug("{}", statement);
        }
    }
}
