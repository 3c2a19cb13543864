package io.dbsemaphore.spi;

/** The state of an owner, as an {@link OwnerLiveness} reports it. */
public enum Liveness {

    /** The owner exists and keeps its permits. */
    ALIVE,

    /** The owner no longer exists; its permits are released after a grace period. */
    DEAD,

    /** The state is unknown; the owner keeps its permits. */
    UNKNOWN
}
