package io.dbsemaphore.test.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.config.OnFull;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import io.dbsemaphore.test.InMemorySemaphores;
import io.dbsemaphore.test.MovableClock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration for semaphores in memory. They take precedence over the starter's, which would grant every permit. Used by
 * {@link AutoConfigureSemaphores} only.
 */
@AutoConfiguration(beforeName = "io.dbsemaphore.boot.autoconfigure.SemaphoreFallbackAutoConfiguration")
@ConditionalOnProperty(name = "semaphore.test.counting", havingValue = "IN_MEMORY")
public final class SemaphoreTestAutoConfiguration {

    private static final String NO_CAPACITY = "" + Integer.MIN_VALUE;

    @Bean
    @ConditionalOnMissingBean(SemaphoreOperations.class)
    InMemorySemaphores inMemorySemaphores(Environment environment) {
        Binder binder = Binder.get(environment);
        Map<String, Declared> declared = declared(binder);
        InMemorySemaphores semaphores = new InMemorySemaphores(settings(binder, declared), MovableClock.running());
        declared.forEach((name, each) -> semaphores.with(name, each.capacity()));
        return semaphores;
    }

    @Bean
    @ConditionalOnBean(InMemorySemaphores.class)
    @ConditionalOnMissingBean
    SemaphoreAdmin semaphoreAdmin(InMemorySemaphores semaphores) {
        return semaphores.admin();
    }

    /** The declared semaphores and patterns, by name or glob. */
    private static Map<String, Declared> declared(Binder binder) {
        Map<String, Declared> declared = new LinkedHashMap<>();
        for (String root : List.of("semaphore.semaphores", "semaphore.patterns")) {
            Map<String, Declared> bound = binder.bind(root, Bindable.mapOf(String.class, Declared.class))
                    .orElse(Map.of());
            binder.bind(root, Bindable.mapOf(String.class, Object.class))
                    .orElse(Map.of())
                    .keySet()
                    .forEach(name -> declared.put(name, requireCapacity(root, name, bound.get(name))));
        }
        return declared;
    }

    /** Fails with the starter's message. The entry is null if it has none of these settings. */
    private static Declared requireCapacity(String root, String name, @Nullable Declared declared) {
        if (declared == null || declared.capacity() == Integer.MIN_VALUE) {
            throw new IllegalStateException(
                    "%s.%s.capacity is missing. Set it. If this is only the beginning of a name, put the whole name in brackets: %s.[%s.example].capacity"
                            .formatted(root, name.matches("[A-Za-z0-9-]+") ? name : "[" + name + "]", root, name));
        }
        return declared;
    }

    private static SemaphoreSettings settings(Binder binder, Map<String, Declared> declared) {
        SemaphoreSettings settings = SemaphoreSettings.defaults().withProperties((property, type) -> {
            Object value = binder.bind(property, type).orElse(null);
            return value instanceof String text && !StringUtils.hasText(text) ? null : value;
        });
        for (Map.Entry<String, Declared> each : declared.entrySet()) {
            settings = with(
                    settings,
                    SemaphoreSettings.WAIT_TIME,
                    each.getKey(),
                    each.getValue().waitTime());
            settings = with(
                    settings,
                    SemaphoreSettings.MAX_HOLD,
                    each.getKey(),
                    each.getValue().maxHold());
            settings = with(
                    settings,
                    SemaphoreSettings.MAX_WAITING,
                    each.getKey(),
                    each.getValue().maxWaiting());
            settings = with(
                    settings,
                    SemaphoreSettings.MAX_WAITING_PER_SHARE,
                    each.getKey(),
                    each.getValue().maxWaitingPerShare());
            settings = with(
                    settings,
                    SemaphoreSettings.ON_FULL,
                    each.getKey(),
                    each.getValue().onFull());
            settings = with(
                    settings,
                    SemaphoreSettings.FAIR,
                    each.getKey(),
                    each.getValue().fair());
            settings = with(
                    settings,
                    SemaphoreSettings.WEIGHTS,
                    each.getKey(),
                    each.getValue().weights());
        }
        return settings;
    }

    private static <T> SemaphoreSettings with(
            SemaphoreSettings settings, Setting<PerSemaphore<T>> setting, String name, @Nullable T value) {
        return value == null
                ? settings
                : settings.with(setting, settings.get(setting).with(name, value));
    }

    /** The properties of a semaphore that matter in memory. */
    record Declared(
            @DefaultValue(NO_CAPACITY) int capacity,
            @Nullable Duration waitTime,
            @Nullable Duration maxHold,
            @Nullable Integer maxWaiting,
            @Nullable Integer maxWaitingPerShare,
            @Nullable OnFull onFull,
            @Nullable Boolean fair,
            @Nullable Map<String, Integer> weights) {}
}
