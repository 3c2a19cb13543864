package io.dbsemaphore.boot.autoconfigure;

import static org.springframework.context.ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.Environment;

/** Refuses properties under their former names, which would have no effect. */
final class RenamedProperties implements BeanFactoryPostProcessor {

    /** The current names by the former ones. */
    static final SortedMap<String, String> RENAMED = new TreeMap<>();

    static {
        rename("semaphore.", "semaphore.jdbc.", """
                decision-timeout initialize-schema lock-wait-timeout max-attempts max-batch-size max-connections notifications \
                pipelining schema-wait session-idle-limit table-prefix""");
        rename("semaphore.", "semaphore.defaults.", "fair max-hold");
        rename("semaphore.default-", "semaphore.defaults.", "ttl");
        rename(
                "semaphore.endpoint.",
                "management.endpoint.semaphores.",
                "anonymous-write-enabled force-release-enabled page-enabled set-capacity-enabled");
    }

    private static void rename(String from, String to, String names) {
        for (String name : names.split(" ", -1)) {
            RENAMED.put(from + name, to + name);
        }
    }

    /** @throws SemaphoreConfigurationException if there are any, naming all of them */
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        List<String> found = new ArrayList<>();
        for (ConfigurationPropertySource source :
                ConfigurationPropertySources.get(beanFactory.getBean(ENVIRONMENT_BEAN_NAME, Environment.class))) {
            RENAMED.forEach((former, name) -> Stream.ofNullable(
                            source.getConfigurationProperty(ConfigurationPropertyName.of(former)))
                    .map(property -> "    %s is now %s: %s".formatted(former, name, property.getOrigin()))
                    .forEach(found::add));
        }
        if (!found.isEmpty()) {
            throw new SemaphoreConfigurationException(
                    "Properties of the semaphores have been renamed. Under their former names they would have no effect:\n\n%s\n"
                            .formatted(String.join("\n", found)),
                    "Use the new names. A variable of the environment has underscores instead of dots, and no dashes, such as"
                            + " SEMAPHORE_JDBC_MAXCONNECTIONS.");
        }
    }
}
