package io.dbsemaphore.samples.benchmark.approach;

import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.security.CodeSource;
import java.time.Duration;
import java.util.Arrays;
import javax.sql.DataSource;

/**
 * The build of the library that is first on the class path: the current one, or the earlier one it is compared with.
 * Settings are passed by reflection, since their class and components differ between builds.
 */
public final class LibraryBuild {

    private LibraryBuild() {}

    /** Where this JVM has loaded the library from. */
    public static String location() {
        CodeSource source = SemaphoreEngine.class.getProtectionDomain().getCodeSource();
        return source.getLocation().getPath();
    }

    static SemaphoreEngine openEngine(DataSource dataSource, String tablePrefix, boolean reuse, Approach approach) {
        try {
            Constructor<?> constructor = Arrays.stream(SemaphoreEngine.class.getConstructors())
                    .filter(candidate -> candidate.getParameterCount() == 2)
                    .findFirst()
                    .orElseThrow();
            Object defaults =
                    constructor.getParameterTypes()[1].getMethod("defaults").invoke(null);
            Object settings = withTablePrefix(defaults, tablePrefix);
            settings = reuse ? withReuse(settings) : settings;
            return (SemaphoreEngine) constructor.newInstance(
                    dataSource,
                    switch (approach) {
                        case UNFAIR -> unfair(settings);
                        case NOTIFIED -> notified(settings);
                        default -> settings;
                    });
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("The benchmark cannot open the library of " + location(), failure);
        }
    }

    private static Object withReuse(Object settings) {
        return ((SemaphoreSettings) settings)
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("bench-*", Duration.ofMillis(250)));
    }

    private static Object unfair(Object settings) {
        return ((SemaphoreSettings) settings).with(SemaphoreSettings.FAIR, PerSemaphore.all(false));
    }

    private static Object notified(Object settings) {
        return ((SemaphoreSettings) settings).with(SemaphoreSettings.NOTIFICATIONS, true);
    }

    /** A copy of these settings: early builds have a record, later ones a class with a constant for each setting. */
    static Object withTablePrefix(Object settings, String tablePrefix) throws ReflectiveOperationException {
        Class<?> type = settings.getClass();
        if (!type.isRecord()) {
            Field setting = type.getField("TABLE_PREFIX");
            return type.getMethod("with", setting.getType(), Object.class)
                    .invoke(settings, setting.get(null), tablePrefix);
        }
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = components[i].getName().equals("tablePrefix")
                    ? tablePrefix
                    : components[i].getAccessor().invoke(settings);
        }
        return type.getDeclaredConstructor(types).newInstance(values);
    }
}
