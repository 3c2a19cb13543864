package io.dbsemaphore.boot.autoconfigure;

import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;

/** Compares the size of the pool with the number of connections that the library may use. */
final class PoolSize {

    private static final Logger log = LoggerFactory.getLogger(PoolSize.class);

    private PoolSize() {}

    /**
     * Warns if the library may use the whole pool. Does not warn about pools of unknown size.
     *
     * @return whether the pool has a connection for the library in addition to one for the application
     */
    static boolean check(DataSource dataSource, int maxConnections, Stream<DataSourcePoolMetadataProvider> providers) {
        DataSourcePoolMetadata pool =
                new CompositeDataSourcePoolMetadataProvider(providers.toList()).getDataSourcePoolMetadata(dataSource);
        Integer max = pool == null ? null : pool.getMax();
        if (max != null && max >= 0 && max <= maxConnections) {
            log.warn(
                    "The pool of the semaphores' DataSource has at most {} connection(s), and semaphore.max-connections"
                            + " allows the library to use {} of them: under load none may be left for the application,"
                            + " and an acquire within a transaction may block itself. Raise"
                            + " spring.datasource.hikari.maximum-pool-size, or lower semaphore.max-connections",
                    max,
                    maxConnections);
        }
        return max == null || max < 0 || max > 1;
    }
}
