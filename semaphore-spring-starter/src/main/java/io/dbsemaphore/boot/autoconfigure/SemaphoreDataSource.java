package io.dbsemaphore.boot.autoconfigure;

import static java.lang.annotation.ElementType.ANNOTATION_TYPE;
import static java.lang.annotation.ElementType.FIELD;
import static java.lang.annotation.ElementType.METHOD;
import static java.lang.annotation.ElementType.PARAMETER;
import static java.lang.annotation.ElementType.TYPE;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} bean for the semaphores, in an application that has several. None of the others needs to be primary, and the
 * annotated one need not be a default candidate:
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @SemaphoreDataSource
 * DataSource coordination() { … }
 * }</pre>
 *
 * <p>The properties {@code semaphore.datasource} and {@code semaphore.datasource.url} take precedence. The start fails if several beans
 * have the annotation and none of them is primary, or if the {@code DataSource} stands for several databases.
 */
@Target({FIELD, METHOD, PARAMETER, TYPE, ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier public @interface SemaphoreDataSource {}
