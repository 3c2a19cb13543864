package io.dbsemaphore.domain;

import org.jspecify.annotations.Nullable;

/**
 * The stored capacity, which nobody has set by hand, of a semaphore that a pattern has created.
 *
 * @param setBy who set it last; null if unchanged since the pattern created the semaphore
 */
public record PatternCapacity(
        long id, String name, int capacity, @Nullable String setBy) {

    /** Stands for the providers of the application in {@link #setBy} and in the audit. */
    public static final String PROVIDER = "CapacityProvider";

    /** Stands for the pattern in both, once the providers no longer give a capacity. */
    public static final String PATTERN = "pattern";

    /** Whether a provider has set it. */
    public boolean isProvided() {
        return PROVIDER.equals(setBy);
    }

    /**
     * Whether it has to be changed.
     *
     * @param by who sets it. An operator who sets the capacity of a pattern does not change one that a provider has set
     */
    public boolean differsFrom(int wanted, String by) {
        boolean differs = capacity != wanted;
        boolean isManaged = by.equals(PROVIDER) || by.equals(PATTERN);
        return isManaged ? differs || !by.equals(setBy) : differs && !isProvided();
    }
}
