package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.PermitManager;

/**
 * Wraps what the {@link io.dbsemaphore.SemaphoreTemplate} of the auto-configuration works on, to see or change what goes
 * through it. A bean; of several the first in their order is the innermost. What the library itself acquires does not go
 * through it.
 */
@FunctionalInterface
public interface PermitManagerDecorator {

    /** Returns what is to be used instead of this manager. */
    PermitManager decorate(PermitManager manager);
}
