package io.dbsemaphore.domain;

/** The one way a request and its permits go: acquired, then released, never back. */
public enum PermitState {
    ACQUIRED,
    RELEASED
}
