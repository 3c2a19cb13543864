package io.dbsemaphore.boot.autoconfigure;

import java.util.Arrays;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Chooses the {@code DataSource} for the semaphores. */
final class DataSourceChoice {

    private static final String PROPERTY = "semaphore.datasource";

    private final ListableBeanFactory beanFactory;
    private final ObjectProvider<DataSource> dataSources;

    DataSourceChoice(ListableBeanFactory beanFactory, ObjectProvider<DataSource> dataSources) {
        this.beanFactory = beanFactory;
        this.dataSources = dataSources;
    }

    /**
     * Returns the bean with this name, or the only or primary one if no name is configured.
     *
     * @throws SemaphoreConfigurationException if there is no such bean, none is primary, or it does not stand for a
     *     single database
     */
    DataSource byName(@Nullable String name) {
        DataSource dataSource = name == null ? onlyOrPrimary() : named(name);
        AbstractRoutingDataSource routing = DataSourceUnwrapper.unwrap(dataSource, AbstractRoutingDataSource.class);
        if (routing != null) {
            throw new SemaphoreConfigurationException(
                    """
                    The DataSource %s chooses a database for each connection (%s), depending on the calling thread. \
                    Permits acquired in one database would be renewed and released in another.""".formatted(
                                    name == null ? "of the application" : "'" + name + "'",
                                    routing.getClass().getName()),
                    """
                    Set %s to the name of a DataSource bean for a single database, such as one of its targets. \
                    DataSource beans: %s.""".formatted(PROPERTY, candidates()));
        }
        return dataSource;
    }

    private DataSource named(String name) {
        if (!beanFactory.containsBean(name) || !beanFactory.isTypeMatch(name, DataSource.class)) {
            throw new SemaphoreConfigurationException(
                    "%s names the bean '%s', which %s."
                            .formatted(
                                    PROPERTY,
                                    name,
                                    beanFactory.containsBean(name) ? "is not a DataSource" : "does not exist"),
                    "Set %s to the name of a DataSource bean: %s.".formatted(PROPERTY, candidates()));
        }
        return beanFactory.getBean(name, DataSource.class);
    }

    private DataSource onlyOrPrimary() {
        DataSource dataSource = dataSources.getIfUnique();
        if (dataSource == null) {
            throw new SemaphoreConfigurationException(
                    """
                    The semaphores need a single DataSource, but there are several and none of them is primary: %s.""".formatted(candidates()),
                    "Set %s to the name of one of them, or make one of them @Primary.".formatted(PROPERTY));
        }
        return dataSource;
    }

    private String candidates() {
        return Arrays.stream(beanFactory.getBeanNamesForType(DataSource.class))
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
