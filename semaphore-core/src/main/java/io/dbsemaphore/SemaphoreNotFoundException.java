package io.dbsemaphore;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** A semaphore that was named does not exist. */
public class SemaphoreNotFoundException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String[] names;

    /** Creates an exception for an acquire of these names. */
    public SemaphoreNotFoundException(Collection<String> names) {
        this(names, "Nothing was acquired");
    }

    private SemaphoreNotFoundException(Collection<String> names, String consequence) {
        super("No semaphore is named %s. %s. Declare it (semaphore.semaphores.<name>.capacity), create it"
                        .formatted(
                                names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", ")),
                                consequence)
                + " (SemaphoreAdmin.create), or check the spelling: names are compared byte for byte");
        this.names = names.toArray(String[]::new);
    }

    /** An exception for an operation on a semaphore that is not an acquire, which has changed nothing. */
    public static SemaphoreNotFoundException nothingChanged(String name) {
        return new SemaphoreNotFoundException(List.of(name), "Nothing was changed");
    }

    /** The names that are not known. */
    public List<String> names() {
        return List.of(names);
    }
}
