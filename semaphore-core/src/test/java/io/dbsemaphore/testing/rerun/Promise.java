package io.dbsemaphore.testing.rerun;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The test asserts what must never happen, not even once: more permits than the capacity, a permit that is lost, a token twice, a stale
 * write. If an assertion fails there, the build has failed: the test is not run again, as others are (see {@link FailedTests}).
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Promise {}
