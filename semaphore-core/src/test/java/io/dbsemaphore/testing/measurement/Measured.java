package io.dbsemaphore.testing.measurement;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test measures. Another process on the machine may distort that, so a test that fails by a {@link Measurement} is repeated,
 * three times in all at most. A test that fails by anything else is not repeated: what must never happen must not happen once.
 *
 * <p>Methods that run before and after each test run once, and the {@code @Timeout} of the test is for all measurements.
 */
@Documented
@ExtendWith(MeasurementRepeater.class)
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Measured {}
