package io.dbsemaphore.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * The test takes long, since time has to pass in it or other processes have to start, and what it says has little to do
 * with the product that it runs on. {@code -DexcludedGroups=slow} leaves it out, for a shorter run on one more database.
 */
@Documented
@Tag("slow")
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Slow {}
