package io.dbsemaphore.spi;

/**
 * Wraps the {@link PermitManager} that the {@link io.dbsemaphore.SemaphoreTemplate} of the auto-configuration uses, to
 * observe or change its calls. Declare decorators as beans. If there are several, the first in order is the innermost.
 * The library's own acquires are not decorated.
 */
@FunctionalInterface
public interface PermitManagerDecorator {

    /**
     * Decorates a manager.
     *
     * @param manager the manager to delegate to
     * @return the manager to use instead
     */
    PermitManager decorate(PermitManager manager);
}
