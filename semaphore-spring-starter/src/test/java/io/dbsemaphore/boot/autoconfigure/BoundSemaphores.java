package io.dbsemaphore.boot.autoconfigure;

import static java.util.stream.Collectors.toMap;

import java.util.Map;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.PropertySource;

/** The capacities that properties of an application declare, all of which the library knows. */
public record BoundSemaphores(Map<String, Integer> semaphores, Map<String, Integer> patterns) {

    public static BoundSemaphores of(PropertySource<?> source) {
        Binder binder = new Binder(ConfigurationPropertySources.from(source));
        BindHandler handler = new NoUnboundElementsBindHandler(BindHandler.DEFAULT); // remembers what it has bound
        SemaphorePropertiesFixture.settings()
                .forEach(setting -> binder.bind(setting.property(), Bindable.of(String.class), handler));
        SemaphoreProperties bound = binder.bind("semaphore", Bindable.of(SemaphoreProperties.class), handler)
                .get();
        return new BoundSemaphores(capacities(bound.semaphores()), capacities(bound.patterns()));
    }

    private static Map<String, Integer> capacities(Map<String, SemaphoreProperties.Declared> declared) {
        return declared.entrySet().stream()
                .collect(toMap(Map.Entry::getKey, each -> each.getValue().capacity()));
    }
}
