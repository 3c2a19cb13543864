package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.config.SemaphoreSettings;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;

/**
 * The size of the pool, compared with the number of connections that the library may use.
 *
 * @param max null if unknown, or unlimited
 */
record PoolSize(@Nullable Integer max) {

    private static final Logger log = LoggerFactory.getLogger(PoolSize.class);

    static PoolSize of(DataSource dataSource, Stream<DataSourcePoolMetadataProvider> providers) {
        DataSourcePoolMetadata pool =
                new CompositeDataSourcePoolMetadataProvider(providers.toList()).getDataSourcePoolMetadata(dataSource);
        Integer max = pool == null ? null : pool.getMax();
        return new PoolSize(max == null || max < 0 ? null : max);
    }

    /** Whether the pool has no connection for the library in addition to one for the application. */
    boolean isOneForAll() {
        return max != null && max <= 1;
    }

    /** Warns if the library may use the whole pool, and lets it use at most that, so that it keeps no connection of a small one. */
    SemaphoreSettings fit(SemaphoreSettings settings) {
        int maxConnections = settings.get(SemaphoreSettings.MAX_CONNECTIONS);
        if (max == null || max > maxConnections) {
            return settings;
        }
        log.warn(
                "The pool of the semaphores' DataSource has at most {} connection(s), and semaphore.max-connections"
                        + " allows the library to use {} of them: under load none may be left for the application,"
                        + " and an acquire within a transaction may block itself. Raise"
                        + " spring.datasource.hikari.maximum-pool-size, or lower semaphore.max-connections",
                max,
                maxConnections);
        return settings.with(SemaphoreSettings.MAX_CONNECTIONS, Math.max(1, max));
    }
}
