package io.dbsemaphore.test.autoconfigure;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.test.InMemorySemaphores;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;
import org.springframework.test.context.TestPropertySource;

/**
 * Gives semaphores without a database to a {@code @SpringBootTest} or a slice such as {@code @WebMvcTest}. The starter's engine, with its
 * tables, threads and metrics, is switched off ({@code semaphore.enabled=false}).
 *
 * <p>By default the permits are counted in memory. {@link InMemorySemaphores} and {@link SemaphoreAdmin} are beans to inject. They have
 * the semaphores, patterns and settings of the application's properties, and belong to the application context: all tests that share the
 * context share these beans. A declared semaphore or pattern without a capacity fails the start of the context, as it fails that of the
 * application.
 *
 * <p>Beans of the types {@code SemaphoreSettings}, {@code SemaphoreSettingsCustomizer}, {@code PermitManagerDecorator},
 * {@code CapacityProvider}, {@code OwnerLiveness} and {@code SemaphoreListener} have no effect, nor has {@code semaphore.host-transaction}.
 * The start does not check the keys of properties or the names in {@code @WithPermits} annotations: a call with an unknown name fails.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(properties = "semaphore.enabled=false")
public @interface AutoConfigureSemaphores {

    /**
     * How permits are counted. Default: in memory.
     *
     * @return how permits are counted
     */
    @PropertyMapping("semaphore.test.counting")
    Counting value() default Counting.IN_MEMORY;

    /** How permits are counted. */
    enum Counting {

        /** By {@link InMemorySemaphores}: limits hold, within the application context. */
        IN_MEMORY,

        /** Not at all: every permit is granted, and none is remembered. */
        NONE
    }
}
