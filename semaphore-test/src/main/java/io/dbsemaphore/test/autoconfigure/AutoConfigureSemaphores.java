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
 * Gives a test of Spring Boot semaphores without a database: {@code @SpringBootTest}, and slices such as {@code @WebMvcTest}, in which
 * otherwise nothing is counted. The starter's engine, with its tables, threads and metrics, is switched off ({@code semaphore.enabled=false}).
 *
 * <p>By default the permits are counted in memory. {@link InMemorySemaphores} is a bean to inject, and {@link SemaphoreAdmin} is, too. It has
 * the semaphores, patterns and settings of the application's properties. It belongs to the application context, and so to all tests that share
 * it. A declared semaphore or pattern without a capacity fails the start of the context, as it fails the start of the application.
 *
 * <p>Not applied are beans of the types {@code SemaphoreSettings}, {@code SemaphoreSettingsCustomizer}, {@code PermitManagerDecorator},
 * {@code CapacityProvider}, {@code OwnerLiveness} and {@code SemaphoreListener}, and the property {@code semaphore.host-transaction}. The start
 * does not check the names in {@code @WithPermits} annotations: a call that acquires an unknown one fails. Nor does it check how the keys of
 * the properties are written.
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
     * @return how
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
