package io.dbsemaphore.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.SystemPropertyUtils;

/** Resolves the placeholders of an annotation, and does not let one pass that has no value. */
final class PlaceholderResolver {

    private final BeanFactory beanFactory;

    PlaceholderResolver(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /**
     * The text with its placeholders replaced.
     *
     * @throws IllegalStateException when one has no value
     */
    String resolve(AnnotatedMethod annotated, String attribute, String text) {
        String resolved = text;
        if (beanFactory instanceof ConfigurableBeanFactory configurable) {
            try {
                resolved = configurable.resolveEmbeddedValue(text);
            } catch (IllegalArgumentException unresolvable) {
                throw refuse(annotated, attribute, text, unresolvable);
            }
        }
        // A context without a PropertySourcesPlaceholderConfigurer leaves unknown placeholders as they are
        if (resolved == null || resolved.contains(SystemPropertyUtils.PLACEHOLDER_PREFIX)) {
            throw refuse(annotated, attribute, text, null);
        }
        return resolved;
    }

    private static IllegalStateException refuse(
            AnnotatedMethod annotated, String attribute, String text, @Nullable Throwable cause) {
        return annotated.refuse(
                attribute, text, "has a placeholder without a value. Define the property, or give a default", cause);
    }
}
