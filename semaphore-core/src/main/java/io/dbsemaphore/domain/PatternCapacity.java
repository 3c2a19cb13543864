package io.dbsemaphore.domain;

import org.jspecify.annotations.Nullable;

/**
 * The capacity of a semaphore that a pattern has created and that nobody has set by hand, as its row says.
 *
 * @param setBy who set it last; null if nobody has since the pattern created it
 */
public record PatternCapacity(
        long id, String name, int capacity, @Nullable String setBy) {

    /** Stands for the providers of the application in {@link #setBy} and in the audit. */
    public static final String PROVIDER = "CapacityProvider";

    /** Stands there for the pattern, once the providers no longer give a capacity. */
    public static final String PATTERN = "pattern";

    /** Whether a provider has set it. */
    public boolean isProvided() {
        return PROVIDER.equals(setBy);
    }

    /**
     * Whether it has to be changed.
     *
     * @param by who sets it. An operator who sets the capacity of a pattern does not change that of a provider
     */
    public boolean differsFrom(int wanted, String by) {
        boolean differs = capacity != wanted;
        boolean isManaged = by.equals(PROVIDER) || by.equals(PATTERN);
        return isManaged ? differs || !by.equals(setBy) : differs && !isProvided();
    }
}
