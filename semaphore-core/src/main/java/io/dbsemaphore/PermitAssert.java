package io.dbsemaphore;

import java.util.List;

/** Asserts that code runs under the permits that it requires. */
public final class PermitAssert {

    private PermitAssert() {}

    /**
     * Asserts that the current thread runs under a permit of a semaphore. Call it first in a {@code @WithPermits}
     * method whose limit must not be bypassed: a call from within the same object does not pass through the proxy, and
     * so acquires nothing. Does not access the database.
     *
     * @param name the semaphore
     * @throws IllegalStateException if this thread has not acquired a permit of it
     * @throws PermitLostException if this thread has acquired one that is no longer held
     */
    public static void assertHeld(String name) {
        List<PermitGrant> grants = Permits.grants()
                .filter(grant -> grant.permits().containsKey(name))
                .toList();
        if (grants.isEmpty()) {
            throw new IllegalStateException("This thread holds no permit of semaphore '" + name
                    + "': the limit is not enforced here. A @WithPermits method must be called through its bean, not"
                    + " from within the same object");
        }
        if (grants.stream().noneMatch(PermitGrant::isHeld)) {
            throw new PermitLostException(
                    grants.get(0).externalId(), grants.get(0).permits());
        }
    }
}
