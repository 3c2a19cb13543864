package io.dbsemaphore.test;

import io.dbsemaphore.admin.SemaphoreAdmin;
import java.lang.reflect.Field;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a test that acquires permits and does not release them, with an {@link AssertionError} that names the semaphores, the owners and the
 * counts. Permits that were held before the test are ignored.
 *
 * <pre>{@code
 * @ExtendWith(PermitLeakExtension.class)
 * class BackupServiceTests {
 *
 *     private final InMemorySemaphores semaphores = InMemorySemaphores.of("backup", 3);
 * }
 * }</pre>
 *
 * <p>The test class, a superclass or an enclosing class needs a field of the type {@link InMemorySemaphores}, or {@link SemaphoreAdmin} for
 * semaphores of a database. The field may be injected. All such fields are checked.
 */
public final class PermitLeakExtension implements BeforeEachCallback, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(PermitLeakExtension.class);

    /** Called by JUnit. */
    public PermitLeakExtension() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(NAMESPACE)
                .put("before", HeldPermits.of(admins(context)).externalIds());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        @SuppressWarnings("unchecked") // as put there
        Set<String> before = context.getStore(NAMESPACE).getOrDefault("before", Set.class, Set.of());
        String leaked = HeldPermits.of(admins(context)).without(before).describe();
        if (!leaked.isEmpty()) {
            throw new AssertionError(
                    "The test %s leaves permits held, which later tests cannot acquire:%n%s%nRelease them, or acquire them with execute or try-with-resources"
                            .formatted(context.getDisplayName(), leaked));
        }
    }

    private static SemaphoreAdmin[] admins(ExtensionContext context) {
        SemaphoreAdmin[] admins = context.getRequiredTestInstances().getAllInstances().stream()
                .flatMap(PermitLeakExtension::values)
                .flatMap(value -> value instanceof InMemorySemaphores semaphores
                        ? Stream.of(semaphores.admin())
                        : value instanceof SemaphoreAdmin admin ? Stream.of(admin) : Stream.empty())
                .distinct()
                .toArray(SemaphoreAdmin[]::new);
        if (admins.length == 0) {
            throw new IllegalStateException(
                    "%s has no field of the type InMemorySemaphores or SemaphoreAdmin, so that PermitLeakExtension cannot find leaks: add one"
                            .formatted(context.getRequiredTestClass().getName()));
        }
        return admins;
    }

    private static Stream<Object> values(Object instance) {
        Stream.Builder<Object> values = Stream.builder();
        for (Class<?> type = instance.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (InMemorySemaphores.class.isAssignableFrom(field.getType())
                        || SemaphoreAdmin.class.isAssignableFrom(field.getType())) {
                    values.add(value(field, instance));
                }
            }
        }
        return values.build();
    }

    private static Object value(Field field, Object instance) {
        try {
            field.setAccessible(true);
            return field.get(instance);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(
                    "%s cannot be read, so that PermitLeakExtension cannot find leaks".formatted(field), failure);
        }
    }
}
