package io.dbsemaphore.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * The test starts several servers: a cluster, or a primary with its replica. {@code mvn verify} leaves it out, and the profile
 * {@code cluster} runs it.
 */
@Documented
@Tag("cluster")
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Clustered {}
