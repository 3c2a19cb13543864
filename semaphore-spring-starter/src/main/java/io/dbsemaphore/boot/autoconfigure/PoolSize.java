package io.dbsemaphore.boot.autoconfigure;

import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;

/** Compares the pool with what the library may take of it. */
final class PoolSize {

    private static final Logger log = LoggerFactory.getLogger(PoolSize.class);

    private PoolSize() {}

    /**
     * Warns where the library may take the whole pool. Says nothing of pools that do not tell their size.
     *
     * @return whether the pool has a connection for the library beside one of the application's
     */
    static boolean check(DataSource dataSource, int maxConnections, Stream<DataSourcePoolMetadataProvider> providers) {
        DataSourcePoolMetadata pool =
                new CompositeDataSourcePoolMetadataProvider(providers.toList()).getDataSourcePoolMetadata(dataSource);
        Integer max = pool == null ? null : pool.getMax();
        if (max != null && max >= 0 && max <= maxConnections) {
            log.warn(
                    "The pool of the semaphores' DataSource has at most {} connection(s), and semaphore.max-connections"
                            + " allows the library {} of them: under load the application has none left, and an acquire"
                            + " within a transaction may wait for itself. Raise"
                            + " spring.datasource.hikari.maximum-pool-size, or lower semaphore.max-connections",
                    max,
                    maxConnections);
        }
        return max == null || max < 0 || max > 1;
    }
}
