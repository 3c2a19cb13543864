package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.config.SemaphoreSettings;

/**
 * Changes the settings that come from the properties, before the engine starts with them. {@link SemaphoreAutoConfiguration} calls each
 * bean of this type once, in the order of {@link org.springframework.core.annotation.Order}. It calls none if the application defines its
 * own bean of type {@link SemaphoreSettings}, or uses the engine of a parent context.
 */
@FunctionalInterface
public interface SemaphoreSettingsCustomizer {

    /**
     * Changes the settings.
     *
     * @param settings those of the properties, with the changes of the customizers before this one
     * @return the changed settings; the same ones if there is nothing to change
     * @throws IllegalArgumentException if the settings cannot be used. The application then does not start, and its failure analysis shows
     *     the message with a period added
     */
    SemaphoreSettings customize(SemaphoreSettings settings);
}
