package io.dbsemaphore;

import java.util.List;

/** Fails loudly where code runs without the permits that it was written to run under. */
public final class PermitAssert {

    private PermitAssert() {}

    /**
     * Asserts that the current thread works under a permit of this semaphore. Put it first in a {@code @WithPermits}
     * method whose limit matters: a call from within the same object bypasses the proxy, and with it the semaphore.
     *
     * @throws IllegalStateException when it was never acquired on this thread
     * @throws PermitLostException when it was, but is no longer held
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
