package io.dbsemaphore.test;

import io.dbsemaphore.admin.SemaphoreAdmin;
import org.assertj.core.api.AbstractAssert;

/** Assertions about all semaphores, of a database or in memory. Each assertion reads them anew. */
public final class SemaphoresAssert extends AbstractAssert<SemaphoresAssert, SemaphoreAdmin> {

    SemaphoresAssert(SemaphoreAdmin admin) {
        super(admin, SemaphoresAssert.class);
    }

    /**
     * Asserts that a semaphore exists.
     *
     * @param name its name
     * @return assertions about it
     */
    public SemaphoreAssert semaphore(String name) {
        if (actual.find(name).isEmpty()) {
            failWithMessage(
                    "There is no semaphore '%s'. There are %s",
                    name, actual.list().stream().map(each -> each.name()).toList());
        }
        return new SemaphoreAssert(actual, name);
    }

    /**
     * Asserts that nobody holds a permit.
     *
     * @return this assertion
     */
    public SemaphoresAssert haveNoHolders() {
        String held = HeldPermits.of(actual).describe();
        if (!held.isEmpty()) {
            failWithMessage("Expected no permit to be held, but:%n%s", held);
        }
        return this;
    }
}
