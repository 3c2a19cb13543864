package io.dbsemaphore;

import io.dbsemaphore.admin.SemaphoreName;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Thrown when a named semaphore does not exist and no pattern matches its name. */
public class SemaphoreNotFoundException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The names that do not exist. */
    private final String[] names;

    /** The maximum number of existing names in the message. */
    private static final int LISTED = 5;

    /**
     * Creates an exception for an acquire.
     *
     * @param names the names that do not exist
     */
    public SemaphoreNotFoundException(Collection<String> names) {
        this(names, List.of());
    }

    /**
     * Creates an exception for an acquire, with the names that exist.
     *
     * @param names the names that do not exist
     * @param existing the names and patterns that exist
     */
    public SemaphoreNotFoundException(Collection<String> names, Collection<String> existing) {
        this(names, "Nothing was acquired", existing);
    }

    private SemaphoreNotFoundException(Collection<String> names, String consequence, Collection<String> existing) {
        super("There is no semaphore named %s. %s%s. Declare it (semaphore.semaphores.<name>.capacity), create it"
                        .formatted(quoted(names), suggestion(names, existing), consequence)
                + " (SemaphoreAdmin.create), or check the spelling: names are compared byte for byte"
                + list(existing));
        this.names = names.toArray(String[]::new);
    }

    private static String suggestion(Collection<String> names, Collection<String> existing) {
        List<String> meant = names.stream()
                .flatMap(name -> SemaphoreName.nearest(name, existing).stream())
                .toList();
        return meant.isEmpty() ? "" : "Did you mean " + quoted(meant) + "? ";
    }

    private static String list(Collection<String> existing) {
        if (existing.isEmpty()) {
            return "";
        }
        int more = existing.size() - LISTED;
        return ". There are " + quoted(existing.stream().limit(LISTED).toList())
                + (more > 0 ? " and " + more + " more" : "");
    }

    private static String quoted(Collection<String> names) {
        return names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "));
    }

    /**
     * Creates an exception for an administrative operation, which has changed nothing.
     *
     * @param name the name that does not exist
     * @return the exception
     */
    public static SemaphoreNotFoundException nothingChanged(String name) {
        return new SemaphoreNotFoundException(List.of(name), "Nothing was changed", List.of());
    }

    /** {@return the names that do not exist} */
    public List<String> names() {
        return List.of(names);
    }
}
