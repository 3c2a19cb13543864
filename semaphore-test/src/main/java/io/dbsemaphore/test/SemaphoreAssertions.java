package io.dbsemaphore.test;

import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;

/**
 * Assertions about semaphores, in the manner of AssertJ. Its static methods can be imported beside those of
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
     * @param semaphores the semaphores; not those of a database, which a template cannot read
     * @return the assertion
     * @throws IllegalArgumentException if they cannot be read
     */
    public static SemaphoresAssert assertThat(SemaphoreTemplate semaphores) {
        if (semaphores instanceof InMemorySemaphores inMemory) {
            return new SemaphoresAssert(inMemory.admin());
        }
        throw new IllegalArgumentException(
                "A SemaphoreTemplate acquires and releases, but cannot read who holds what: assert that of the SemaphoreAdmin bean");
    }
}
