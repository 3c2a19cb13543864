package io.dbsemaphore.test;

import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;

/**
 * AssertJ assertions about semaphores. The static methods can be imported together with those of
 * {@link org.assertj.core.api.Assertions}.
 *
 * <pre>{@code
 * assertThat(semaphores).semaphore("backup").hasHeld(1);
 * }</pre>
 */
public final class SemaphoreAssertions {

    private SemaphoreAssertions() {}

    /**
     * Begins an assertion about semaphores in memory or in a database.
     *
     * @param admin reads the semaphores
     * @return the assertion
     */
    public static SemaphoresAssert assertThat(SemaphoreAdmin admin) {
        return new SemaphoresAssert(admin);
    }

    /**
     * Begins an assertion about semaphores in memory.
     *
     * @param semaphores an {@link InMemorySemaphores}; a template on a database cannot be read
     * @return the assertion
     * @throws IllegalArgumentException if it is another template
     */
    public static SemaphoresAssert assertThat(SemaphoreTemplate semaphores) {
        if (semaphores instanceof InMemorySemaphores inMemory) {
            return new SemaphoresAssert(inMemory.admin());
        }
        throw new IllegalArgumentException(
                "A SemaphoreTemplate acquires and releases, but cannot read who holds what: assert that of the SemaphoreAdmin bean");
    }
}
