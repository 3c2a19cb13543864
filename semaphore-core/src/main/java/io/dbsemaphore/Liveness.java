package io.dbsemaphore;

/** What is known of an owner. */
public enum Liveness {

    /** It is there, and keeps what it has. */
    ALIVE,

    /** It is gone for good. */
    DEAD,

    /** Not known; it keeps what it has. */
    UNKNOWN
}
