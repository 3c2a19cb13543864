package io.dbsemaphore.jdbc;

import com.alibaba.druid.pool.DruidDataSource;
import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.AgroalConnectionPoolConfiguration.ConnectionValidator;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.commons.dbcp2.cpdsadapter.DriverAdapterCPDS;
import org.apache.commons.dbcp2.datasources.SharedPoolDataSource;
import org.apache.tomcat.jdbc.pool.DataSourceProxy;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.stone.beecp.BeeDataSource;
import org.stone.beecp.BeeDataSourceConfig;
import org.vibur.dbcp.ViburDBCPDataSource;

/** The pools that hosts have, with {@value #SIZE} connections. A borrower waits for a limited time. */
enum HostPool {
    HIKARI {
        @Override
        DataSource create(Schema schema, boolean validating) {
            HikariConfig config = schema.poolConfig(SIZE, schema.jdbcUrl());
            if (!validating) {
                return new HikariDataSource(config);
            }
            System.setProperty(HIKARI_BYPASS, "0");
            try {
                return new HikariDataSource(config);
            } finally {
                System.clearProperty(HIKARI_BYPASS);
            }
        }
    },
    TOMCAT {
        @Override
        DataSource create(Schema schema, boolean validating) {
            org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
            pool.setUrl(schema.jdbcUrl());
            pool.setUsername(schema.username());
            pool.setPassword(schema.password());
            pool.setInitialSize(SIZE);
            pool.setMaxActive(SIZE);
            pool.setMaxIdle(SIZE);
            pool.setTestOnBorrow(validating);
            pool.setValidationQuery("select 1");
            pool.setValidationInterval(0);
            return pool;
        }
    },
    DBCP {
        @Override
        DataSource create(Schema schema, boolean validating) {
            BasicDataSource pool = new BasicDataSource();
            pool.setUrl(schema.jdbcUrl());
            pool.setUsername(schema.username());
            pool.setPassword(schema.password());
            pool.setInitialSize(SIZE);
            pool.setMaxTotal(SIZE);
            pool.setMaxIdle(SIZE);
            pool.setMaxWait(LONGEST_WAIT);
            return pool;
        }
    },
    DRUID {
        @Override
        DataSource create(Schema schema, boolean validating) {
            DruidDataSource pool = new DruidDataSource();
            pool.setUrl(schema.jdbcUrl());
            pool.setUsername(schema.username());
            pool.setPassword(schema.password());
            pool.setInitialSize(SIZE);
            pool.setMinIdle(SIZE);
            pool.setMaxActive(SIZE);
            pool.setMaxWait(LONGEST_WAIT.toMillis());
            if (validating) {
                pool.setTestOnBorrow(true);
                pool.setValidationQuery("select 1");
            }
            return pool;
        }
    },
    VIBUR {
        @Override
        DataSource create(Schema schema, boolean validating) {
            ViburDBCPDataSource pool = new ViburDBCPDataSource();
            pool.setJdbcUrl(schema.jdbcUrl());
            pool.setUsername(schema.username());
            pool.setPassword(schema.password());
            pool.setPoolInitialSize(SIZE);
            pool.setPoolMaxSize(SIZE);
            if (validating) {
                pool.setConnectionIdleLimitInSeconds(0);
            }
            pool.start();
            return pool;
        }
    },
    BEECP {
        @Override
        DataSource create(Schema schema, boolean validating) throws SQLException {
            BeeDataSourceConfig config =
                    new BeeDataSourceConfig(driver(schema), schema.jdbcUrl(), schema.username(), schema.password());
            config.setInitialSize(SIZE);
            config.setMaxActive(SIZE);
            config.setMaxWait(LONGEST_WAIT.toMillis());
            if (validating) {
                config.setAliveAssumeTime(0);
            }
            return new BeeDataSource(config);
        }
    },
    C3P0 {
        @Override
        DataSource create(Schema schema, boolean validating) {
            ComboPooledDataSource pool = new ComboPooledDataSource();
            pool.setJdbcUrl(schema.jdbcUrl());
            pool.setUser(schema.username());
            pool.setPassword(schema.password());
            pool.setInitialPoolSize(SIZE);
            pool.setMinPoolSize(SIZE);
            pool.setMaxPoolSize(SIZE);
            pool.setCheckoutTimeout((int) LONGEST_WAIT.toMillis());
            pool.setTestConnectionOnCheckout(validating);
            return pool;
        }
    },
    AGROAL {
        @Override
        DataSource create(Schema schema, boolean validating) throws SQLException {
            return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                    .connectionPoolConfiguration(pool -> pool.maxSize(SIZE)
                            .acquisitionTimeout(LONGEST_WAIT)
                            .validateOnBorrow(validating)
                            .connectionValidator(
                                    validating
                                            ? ConnectionValidator.defaultValidator()
                                            : ConnectionValidator.emptyValidator())
                            .connectionFactoryConfiguration(connections -> connections
                                    .jdbcUrl(schema.jdbcUrl())
                                    .principal(new NamePrincipal(schema.username()))
                                    .credential(new SimplePassword(schema.password())))));
        }
    },
    /** One that the library does not know. It lends connections that have ended unless it validates them. */
    DBCP_SHARED {
        @Override
        DataSource create(Schema schema, boolean validating) throws Exception {
            DriverAdapterCPDS connections = new DriverAdapterCPDS();
            connections.setDriver(driver(schema));
            connections.setUrl(schema.jdbcUrl());
            connections.setUser(schema.username());
            connections.setPassword(schema.password());
            SharedPoolDataSource pool = new SharedPoolDataSource();
            pool.setConnectionPoolDataSource(connections);
            pool.setMaxTotal(SIZE);
            pool.setDefaultMaxIdle(SIZE);
            pool.setDefaultMaxWait(LONGEST_WAIT);
            pool.setDefaultTestOnBorrow(validating);
            return pool;
        }
    };

    static final int SIZE = 10;

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final String HIKARI_BYPASS = "com.zaxxer.hikari.aliveBypassWindowMs";

    /**
     * Creates the pool.
     *
     * @param validating whether it checks each connection that it lends; otherwise as it is by default
     */
    abstract DataSource create(Schema schema, boolean validating) throws Exception;

    static void close(DataSource pool) throws Exception {
        if (pool instanceof DelegatingDataSource wrapper) {
            close(wrapper.getTargetDataSource());
        } else if (pool instanceof AutoCloseable closeable) {
            closeable.close();
        } else if (pool instanceof DataSourceProxy tomcat) {
            tomcat.close(true);
        }
    }

    private static String driver(Schema schema) throws SQLException {
        return DriverManager.getDriver(schema.jdbcUrl()).getClass().getName();
    }
}
