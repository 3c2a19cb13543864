package io.dbsemaphore;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/** The thread was interrupted before the permits were granted. Its interrupt flag is set; nothing is held. */
public class AcquireInterruptedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String[] names;

    /** Creates an exception for an acquire of these semaphores. */
    public AcquireInterruptedException(Collection<String> names) {
        super("Interrupted while acquiring permits of " + new TreeSet<>(names) + "; nothing is held");
        this.names = names.toArray(String[]::new);
    }

    /** The semaphores that were to be acquired. */
    public Set<String> names() {
        return Set.of(names);
    }
}
