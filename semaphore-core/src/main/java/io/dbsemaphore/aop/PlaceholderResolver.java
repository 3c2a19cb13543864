package io.dbsemaphore.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.SystemPropertyUtils;

/** Resolves the placeholders of an annotation. Rejects placeholders without a value. */
final class PlaceholderResolver {

    private final BeanFactory beanFactory;

    PlaceholderResolver(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** @throws IllegalStateException if a placeholder has no value */
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
