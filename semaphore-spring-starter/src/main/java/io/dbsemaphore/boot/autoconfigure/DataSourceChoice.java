package io.dbsemaphore.boot.autoconfigure;

import java.util.Arrays;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Chooses the {@code DataSource} whose database holds the semaphores. */
final class DataSourceChoice {

    private static final String PROPERTY = "semaphore.datasource";

    private final ListableBeanFactory beanFactory;
    private final ObjectProvider<DataSource> dataSources;

    DataSourceChoice(ListableBeanFactory beanFactory, ObjectProvider<DataSource> dataSources) {
        this.beanFactory = beanFactory;
        this.dataSources = dataSources;
    }

    /**
     * The bean of this name, or the only or primary one where none was configured.
     *
     * @throws SemaphoreConfigurationException when it is not there, there are several, or it is no single database
     */
    DataSource byName(@Nullable String name) {
        DataSource dataSource = name == null ? onlyOrPrimary() : named(name);
        AbstractRoutingDataSource routing = DataSourceUnwrapper.unwrap(dataSource, AbstractRoutingDataSource.class);
        if (routing != null) {
            throw new SemaphoreConfigurationException(
                    """
                    The DataSource %s chooses a database for each connection (%s), by what is bound to the calling \
                    thread. Permits that were acquired in one database would be renewed and released in another.""".formatted(
                                    name == null ? "of the application" : "'" + name + "'",
                                    routing.getClass().getName()),
                    """
                    Set %s to the name of a DataSource bean that is one database, such as one of its targets. \
                    DataSource beans: %s.""".formatted(PROPERTY, candidates()));
        }
        return dataSource;
    }

    private DataSource named(String name) {
        if (!beanFactory.containsBean(name) || !beanFactory.isTypeMatch(name, DataSource.class)) {
            throw new SemaphoreConfigurationException(
                    "%s names the bean '%s', which is %s."
                            .formatted(PROPERTY, name, beanFactory.containsBean(name) ? "no DataSource" : "not there"),
                    "Set %s to the name of a DataSource bean: %s.".formatted(PROPERTY, candidates()));
        }
        return beanFactory.getBean(name, DataSource.class);
    }

    private DataSource onlyOrPrimary() {
        DataSource dataSource = dataSources.getIfUnique();
        if (dataSource == null) {
            throw new SemaphoreConfigurationException(
                    """
                    The semaphores are held in one database, but which DataSource that is cannot be told: none of \
                    these is the only candidate or primary: %s.""".formatted(candidates()),
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
