package io.dbsemaphore.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * The test runs the fault suite for a while. {@code mvn verify} leaves it out, and the profile {@code faults} runs it.
 */
@Documented
@Tag("faults")
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface FaultSuite {}
