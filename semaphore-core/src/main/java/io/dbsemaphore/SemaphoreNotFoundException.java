package io.dbsemaphore;

import java.util.Collection;
import java.util.List;

/** A semaphore that was named does not exist. */
public class SemaphoreNotFoundException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String[] names;

    /** Creates an exception for these names. */
    public SemaphoreNotFoundException(Collection<String> names) {
        super(
                "No semaphore is named %s. Nothing was acquired. Declare it (semaphore.semaphores.<name>.capacity), create it"
                                .formatted(names.stream()
                                        .map(name -> "'" + name + "'")
                                        .toList())
                        + " (SemaphoreAdmin.create), or check the spelling: names are compared byte for byte");
        this.names = names.toArray(String[]::new);
    }

    /** The names that are not known. */
    public List<String> names() {
        return List.of(names);
    }
}
