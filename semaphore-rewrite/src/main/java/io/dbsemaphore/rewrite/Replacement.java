package io.dbsemaphore.rewrite;

import org.jspecify.annotations.Nullable;

/**
 * The replacement of an annotation.
 *
 * @param name the semaphore, with the expressions of Spring that its name has
 * @param capacity its capacity, as configured
 * @param attributes the attributes of {@code @WithPermits} after its name, each with a comma before it
 * @param obstacle why the annotation has to be replaced by hand; null if it does not
 */
record Replacement(
        String name,
        String capacity,
        String attributes,
        @Nullable String obstacle) {

    static Replacement byHand(String why) {
        return new Replacement("", "", "", why);
    }
}
