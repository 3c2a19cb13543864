package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.test.util.TestPropertyValues.Pair;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.util.ReflectionUtils;

/** Properties become settings, as in the auto-configuration, without an engine. */
abstract class SemaphorePropertiesFixture {

    /** With properties as they are; {@code withPropertyValues} takes a colon for the end of the key. */
    static ApplicationContextRunner with(Map<String, ?> properties) {
        return new ApplicationContextRunner()
                .withUserConfiguration(PropertiesConfiguration.class)
                .withInitializer(context -> TestPropertyValues.of(
                                properties.entrySet().stream(),
                                each -> Pair.of(each.getKey(), String.valueOf(each.getValue())))
                        .applyTo(context));
    }

    /** All settings that have a property of their own. */
    static Stream<Setting<?>> settings() {
        return Stream.of(SemaphoreSettings.class, MaintenanceSettings.class)
                .flatMap(holder -> Stream.of(holder.getFields()))
                .filter(field -> field.getType() == Setting.class)
                .<Setting<?>>map(field -> (Setting<?>) ReflectionUtils.getField(field, null))
                .filter(setting -> !Set.of(
                                SemaphoreSettings.REUSE,
                                SemaphoreSettings.MAX_WAITING,
                                SemaphoreSettings.MAX_WAITING_PER_SHARE,
                                SemaphoreSettings.ON_FULL,
                                SemaphoreSettings.WEIGHTS,
                                SemaphoreSettings.PATTERNS)
                        .contains(setting));
    }

    static SemaphoreSettings onlyOwner() {
        return SemaphoreSettings.defaults().with(SemaphoreSettings.OWNER, "this instance");
    }

    @EnableConfigurationProperties(SemaphoreProperties.class)
    static class PropertiesConfiguration {

        @Bean
        SemaphoreSettings settings(SemaphoreProperties properties, Environment environment) {
            return SemaphoreConfigurationException.explaining(
                    () -> properties.toSettings(environment, "this instance"));
        }
    }
}
