package io.dbsemaphore.domain;

/** The state of a request and its permits. The only transition is from acquired to released. */
public enum PermitState {
    ACQUIRED,
    RELEASED
}
