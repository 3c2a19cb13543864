package io.dbsemaphore;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/**
 * Thrown when the calling thread is interrupted before the permits are granted. The thread's interrupt flag is set
 * again, and nothing is held.
 */
public class AcquireInterruptedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The semaphores that the request names. */
    private final String[] names;

    /**
     * Creates an exception for an acquire.
     *
     * @param names the semaphores that the request names
     */
    public AcquireInterruptedException(Collection<String> names) {
        super("Interrupted while acquiring permits of " + new TreeSet<>(names) + "; nothing is held");
        this.names = names.toArray(String[]::new);
    }

    /** {@return the semaphores that the request names} */
    public Set<String> names() {
        return Set.of(names);
    }
}
