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
     * <p>A thread runs under the permits of a {@code @WithPermits} method, of {@link SemaphoreOperations#execute} and of
     * {@link Permits#callHolding}. A grant of {@link SemaphoreOperations#acquire} is not bound to a thread: run the work that
     * asserts it with {@code callHolding}.
     *
     * @param name the semaphore
     * @throws IllegalStateException if this thread does not run under a permit of it
     * @throws PermitLostException if this thread runs under one that is no longer held
     */
    public static void assertHeld(String name) {
        List<PermitGrant> grants = Permits.grants()
                .filter(grant -> grant.permits().containsKey(name))
                .toList();
        if (grants.isEmpty()) {
            throw new IllegalStateException("This thread does not run under a permit of semaphore '" + name
                    + "'. Call a @WithPermits method through its bean, not from within the same object. A grant of acquire"
                    + " does not count, even if it is held, since it is bound to no thread: run the work with"
                    + " Permits.callHolding(grant, work)");
        }
        if (grants.stream().noneMatch(PermitGrant::isHeld)) {
            throw new PermitLostException(
                    grants.get(0).externalId(), grants.get(0).permits());
        }
    }
}
