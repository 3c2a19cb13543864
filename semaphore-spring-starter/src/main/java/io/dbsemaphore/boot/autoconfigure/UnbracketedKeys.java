package io.dbsemaphore.boot.autoconfigure;

import java.util.Arrays;
import java.util.regex.Pattern;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * Finds keys that are not what they were written as: without brackets binding drops all characters but letters, digits,
 * dashes and dots, so that {@code tenant:a} would make a semaphore {@code tenanta}.
 */
final class UnbracketedKeys implements BeanFactoryPostProcessor {

    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9.-]*");

    private final Environment environment;

    UnbracketedKeys(Environment environment) {
        this.environment = environment;
    }

    /**
     * Checks the keys before they are bound.
     *
     * @throws SemaphoreConfigurationException naming the first that needs brackets
     */
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        refuse("semaphore.semaphores");
        refuse("semaphore.patterns");
    }

    private void refuse(String root) {
        if (environment instanceof ConfigurableEnvironment configurable) {
            for (PropertySource<?> source : configurable.getPropertySources()) {
                if (source instanceof EnumerablePropertySource<?> enumerable) {
                    Arrays.stream(enumerable.getPropertyNames())
                            .filter(name -> name.startsWith(root + "."))
                            .forEach(name -> refuse(name, root));
                }
            }
        }
    }

    private static void refuse(String name, String root) {
        String key = name.substring(root.length() + 1, Math.max(root.length() + 1, name.lastIndexOf('.')));
        if (!key.startsWith("[") && !KEPT.matcher(key).matches()) {
            throw new SemaphoreConfigurationException(
                    "%s.%s has characters that are lost where a key is not in brackets.".formatted(root, key),
                    "Write %s.[%s].capacity, or in YAML \"[%s]\" with the quotes.".formatted(root, key, key));
        }
    }
}
