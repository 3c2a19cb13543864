package io.dbsemaphore.admin;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.spi.CapacityProvider;

/**
 * Thrown when a semaphore cannot be created on first use because the application's {@link CapacityProvider} failed or did not answer in
 * time. The cause says why. Nothing was acquired.
 */
public class CapacityUnknownException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The semaphore that was to be created. */
    private final String name;

    /**
     * Creates an exception for a semaphore.
     *
     * @param name the semaphore that was to be created
     * @param cause why its capacity is not known
     */
    public CapacityUnknownException(String name, Throwable cause) {
        super(
                "Semaphore '%s' cannot be created by a pattern, since CapacityProvider gave no capacity for it: %s."
                                .formatted(name, cause)
                        + " Nothing was acquired. Mend the cause and acquire again; for the capacity of the pattern,"
                        + " CapacityProvider has to return empty",
                cause);
        this.name = name;
    }

    /** {@return the semaphore that was to be created} */
    public String name() {
        return name;
    }
}
