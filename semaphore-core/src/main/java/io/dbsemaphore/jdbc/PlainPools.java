package io.dbsemaphore.jdbc;

import java.util.Set;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Lists the pools and drivers that do not take part in global transactions and return equivalent connections to every
 * thread. Any other {@code DataSource}, apart from Spring's wrappers of these, may depend on the calling thread: to
 * enlist connections, or to choose a database.
 */
final class PlainPools {

    /** Exact classes: DBCP's {@code BasicManagedDataSource}, which enlists connections, is a subclass of one of them. */
    private static final Set<String> CLASSES = Set.of(
            "com.alibaba.druid.pool.DruidDataSource",
            "com.mchange.v2.c3p0.ComboPooledDataSource",
            "com.mysql.cj.jdbc.MysqlDataSource",
            "com.zaxxer.hikari.HikariDataSource",
            "org.apache.commons.dbcp2.BasicDataSource",
            "org.apache.tomcat.jdbc.pool.DataSource",
            "org.h2.jdbcx.JdbcConnectionPool",
            "org.h2.jdbcx.JdbcDataSource",
            "org.mariadb.jdbc.MariaDbDataSource",
            "org.mariadb.jdbc.MariaDbPoolDataSource",
            "org.postgresql.ds.PGSimpleDataSource",
            "org.springframework.jdbc.datasource.DriverManagerDataSource",
            "org.springframework.jdbc.datasource.SimpleDriverDataSource",
            "org.springframework.jdbc.datasource.SingleConnectionDataSource");

    private PlainPools() {}

    static boolean contain(DataSource dataSource) {
        DataSource candidate = dataSource;
        while (candidate instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            candidate = delegating.getTargetDataSource();
        }
        return CLASSES.contains(candidate.getClass().getName());
    }
}
