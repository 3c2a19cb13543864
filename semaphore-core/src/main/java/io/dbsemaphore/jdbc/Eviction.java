package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Takes a connection out of the host's pool. Pools treat {@link Connection#abort} differently: c3p0 counts the connection as in use for
 * ever, and Agroal lends it again. Each pool that is named here has been tried. Working sessions of other pools are not evicted.
 */
final class Eviction {

    private static final Logger log = LoggerFactory.getLogger(Eviction.class);

    /** The pools that replace an aborted connection, at the latest after a failed statement. */
    private static final List<String> ABORTING = List.of(
            "com.alibaba.druid.pool.DruidDataSource",
            "com.zaxxer.hikari.HikariDataSource",
            "oracle.ucp.jdbc.PoolDataSource",
            "org.apache.commons.dbcp2.BasicDataSource",
            "org.apache.tomcat.jdbc.pool.DataSourceProxy",
            "org.stone.beecp.BeeDataSource",
            "org.vibur.dbcp.ViburDBCPDataSource");

    private static final String C3P0 = "com.mchange.v2.c3p0.PooledDataSource";
    private static final String C3P0_CONNECTION = "com.mchange.v2.c3p0.C3P0ProxyConnection";
    private static final String AGROAL = "io.agroal.api.AgroalDataSource";
    private static final String AGROAL_CONNECTION = "io.agroal.pool.wrapper.ConnectionWrapper";
    private static final String AGROAL_HANDLER = "io.agroal.pool.ConnectionHandler";

    private final boolean aborting;
    private final @Nullable Class<?> c3p0;
    private final @Nullable Class<?> agroal;

    /** Recognizes the pool, even within data sources that wrap it; Agroal only unwrapped, because its connections cannot be unwrapped. */
    Eviction(DataSource host) {
        DataSource dataSource = host;
        while (dataSource instanceof DelegatingDataSource wrapper && wrapper.getTargetDataSource() != null) {
            dataSource = wrapper.getTargetDataSource();
        }
        ClassLoader loader = dataSource.getClass().getClassLoader();
        DataSource target = dataSource;
        aborting = ABORTING.stream().anyMatch(pool -> isFor(target, pool, loader));
        c3p0 = isFor(target, C3P0, loader) ? load(C3P0_CONNECTION, loader) : null;
        Class<?> agroalPool = load(AGROAL, loader);
        agroal = agroalPool != null && agroalPool.isInstance(host) ? load(AGROAL_CONNECTION, loader) : null;
    }

    private static boolean isFor(DataSource dataSource, String pool, @Nullable ClassLoader loader) {
        Class<?> type = load(pool, loader);
        try {
            return type != null && (type.isInstance(dataSource) || dataSource.isWrapperFor(type));
        } catch (SQLException | RuntimeException unknown) {
            return false;
        }
    }

    private static @Nullable Class<?> load(String name, @Nullable ClassLoader loader) {
        try {
            return ClassUtils.forName(name, loader);
        } catch (ClassNotFoundException | LinkageError missing) {
            return null;
        }
    }

    /** Whether the pool replaces a session that works but is not wanted, such as a read-only one. */
    boolean replacesLiving() {
        return aborting || c3p0 != null || agroal != null;
    }

    /**
     * Ends the session of a connection, and closes the connection. An unknown pool may not notice before it validates the connection.
     */
    void evict(Connection connection) {
        try (connection) {
            if (agroal == null || !isFlushed(connection, agroal)) {
                // other pools may not expect an abort of their own connection: the driver's is aborted
                Connection ended =
                        aborting ? connection : within(connection, c3p0).unwrap(Connection.class);
                ended.abort(Runnable::run);
                try (Statement probe = connection.createStatement()) {
                    probe.execute("select 1"); // fails, which the pool notices
                }
            }
        } catch (SQLException | RuntimeException dead) {
            log.trace("The evicted connection is closed, as intended", dead);
        }
    }

    /** Has Agroal replace a connection as soon as it is closed. */
    private static boolean isFlushed(Connection connection, Class<?> type) {
        try {
            Object handler = type.getMethod("getHandler").invoke(connection);
            handler.getClass().getMethod("setFlushOnly").invoke(handler);
            return true;
        } catch (ReflectiveOperationException | RuntimeException unable) {
            log.debug("Agroal does not replace the connection; it is ended", unable);
            return false;
        }
    }

    private static Connection within(Connection connection, @Nullable Class<?> type) throws SQLException {
        return type == null || type.isInstance(connection) ? connection : (Connection) connection.unwrap(type);
    }

    /** Hints for native images: the classes by which pools are recognized. */
    static final class Hints implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            Stream.concat(
                            ABORTING.stream(),
                            Stream.of(C3P0, C3P0_CONNECTION, AGROAL, AGROAL_CONNECTION, AGROAL_HANDLER))
                    .forEach(type -> hints.reflection()
                            .registerTypeIfPresent(loader, type, MemberCategory.INVOKE_PUBLIC_METHODS));
        }
    }
}
