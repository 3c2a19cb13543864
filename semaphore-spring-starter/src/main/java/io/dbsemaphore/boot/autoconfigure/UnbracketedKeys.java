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
 * Finds keys that binding would change: without brackets it drops all characters except letters, digits, dashes and
 * dots, so that {@code tenant:a} would create a semaphore {@code tenanta}.
 */
final class UnbracketedKeys implements BeanFactoryPostProcessor {

    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9.-]*");

    private final Environment environment;

    UnbracketedKeys(Environment environment) {
        this.environment = environment;
    }

    /** @throws SemaphoreConfigurationException naming the first key that needs brackets */
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
                    "%s.%s contains characters that are lost unless the key is in brackets.".formatted(root, key),
                    "Write %s.[%s].capacity, or in YAML \"[%s]\" with the quotes.".formatted(root, key, key));
        }
    }
}
