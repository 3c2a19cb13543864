package io.dbsemaphore;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Thrown when a named semaphore does not exist and no pattern matches its name. */
public class SemaphoreNotFoundException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The names that do not exist. */
    private final String[] names;

    /**
     * Creates an exception for an acquire.
     *
     * @param names the names that do not exist
     */
    public SemaphoreNotFoundException(Collection<String> names) {
        this(names, "Nothing was acquired");
    }

    private SemaphoreNotFoundException(Collection<String> names, String consequence) {
        super("There is no semaphore named %s. %s. Declare it (semaphore.semaphores.<name>.capacity), create it"
                        .formatted(
                                names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", ")),
                                consequence)
                + " (SemaphoreAdmin.create), or check the spelling: names are compared byte for byte");
        this.names = names.toArray(String[]::new);
    }

    /**
     * Creates an exception for an administrative operation, which has changed nothing.
     *
     * @param name the name that does not exist
     * @return the exception
     */
    public static SemaphoreNotFoundException nothingChanged(String name) {
        return new SemaphoreNotFoundException(List.of(name), "Nothing was changed");
    }

    /** {@return the names that do not exist} */
    public List<String> names() {
        return List.of(names);
    }
}
