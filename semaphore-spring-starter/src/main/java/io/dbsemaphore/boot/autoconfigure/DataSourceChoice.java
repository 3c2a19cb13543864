package io.dbsemaphore.boot.autoconfigure;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Chooses the {@code DataSource} for the semaphores, and checks that the library cannot use up its pool. */
final class DataSourceChoice {

    private static final Logger log = LoggerFactory.getLogger(DataSourceChoice.class);

    private static final String PROPERTY = "semaphore.datasource";

    private DataSourceChoice() {}

    /**
     * Returns the bean with this name. Without a name, returns the one with {@link SemaphoreDataSource}, or the only or primary one.
     *
     * @throws SemaphoreConfigurationException if there is no such bean, or several and none is primary, or if the bean does not stand for a
     *     single database
     */
    static DataSource of(
            @Nullable String name,
            ListableBeanFactory beanFactory,
            ObjectProvider<DataSource> annotated,
            ObjectProvider<DataSource> all) {
        DataSource dataSource = name == null ? annotatedOrOnly(beanFactory, annotated, all) : named(name, beanFactory);
        AbstractRoutingDataSource routing = DataSourceUnwrapper.unwrap(dataSource, AbstractRoutingDataSource.class);
        if (routing != null) {
            throw new SemaphoreConfigurationException(
                    """
                    The DataSource %s chooses a database for each connection (%s), depending on the calling thread. \
                    Permits acquired in one database would be renewed and released in another.""".formatted(
                                    name == null ? "of the application" : "'" + name + "'",
                                    routing.getClass().getName()),
                    """
                    Set %s to the name of a DataSource bean for a single database, such as one of its targets, or annotate that with \
                    @SemaphoreDataSource. DataSource beans: %s.""".formatted(PROPERTY, candidates(beanFactory)));
        }
        return dataSource;
    }

    private static DataSource named(String name, ListableBeanFactory beanFactory) {
        if (!beanFactory.containsBean(name) || !beanFactory.isTypeMatch(name, DataSource.class)) {
            throw new SemaphoreConfigurationException(
                    "%s names the bean '%s', which %s."
                            .formatted(
                                    PROPERTY,
                                    name,
                                    beanFactory.containsBean(name) ? "is not a DataSource" : "does not exist"),
                    "Set %s to the name of a DataSource bean: %s.".formatted(PROPERTY, candidates(beanFactory)));
        }
        return beanFactory.getBean(name, DataSource.class);
    }

    private static DataSource annotatedOrOnly(
            ListableBeanFactory beanFactory, ObjectProvider<DataSource> annotated, ObjectProvider<DataSource> all) {
        boolean isAnnotated = annotated.stream().findAny().isPresent();
        DataSource dataSource = isAnnotated ? annotated.getIfUnique() : all.getIfUnique();
        if (dataSource == null) {
            throw new SemaphoreConfigurationException(
                    "The semaphores need a single DataSource, but there are several%s and none of them is primary: %s."
                            .formatted(isAnnotated ? " with @SemaphoreDataSource" : "", candidates(beanFactory)),
                    "Annotate a single one with @SemaphoreDataSource, set %s to its name, or make it @Primary."
                            .formatted(PROPERTY));
        }
        return dataSource;
    }

    /** Whether a DataSource bean has {@link SemaphoreDataSource}. Creates none. */
    static boolean hasAnnotated(ListableBeanFactory beanFactory) {
        return Stream.of(beanFactory.getBeanNamesForType(DataSource.class, true, false))
                .anyMatch(name -> beanFactory.findAnnotationOnBean(name, SemaphoreDataSource.class, false) != null);
    }

    private static String candidates(ListableBeanFactory beanFactory) {
        return Arrays.stream(beanFactory.getBeanNamesForType(DataSource.class))
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /**
     * Warns if the library may use the whole pool. Does not warn about pools of unknown size.
     *
     * @return whether the pool has a connection for the library in addition to one for the application
     */
    static boolean hasRoomBesideTheApplication(
            DataSource dataSource, int maxConnections, Stream<DataSourcePoolMetadataProvider> providers) {
        DataSourcePoolMetadata pool =
                new CompositeDataSourcePoolMetadataProvider(providers.toList()).getDataSourcePoolMetadata(dataSource);
        Integer max = pool == null ? null : pool.getMax();
        if (max != null && max >= 0 && max <= maxConnections) {
            log.warn(
                    "The pool of the semaphores has at most {} connection(s), and semaphore.jdbc.max-connections lets them"
                            + " use {}: under load none may be left for the application, and an acquire within a"
                            + " transaction may block itself. Raise spring.datasource.hikari.maximum-pool-size, or lower"
                            + " semaphore.jdbc.max-connections",
                    max,
                    maxConnections);
        }
        return max == null || max < 0 || max > 1;
    }
}
