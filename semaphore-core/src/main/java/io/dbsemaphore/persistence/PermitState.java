package io.dbsemaphore.persistence;

/** The one way a request and its permits go: acquired, then released, never back. */
enum PermitState {
    ACQUIRED,
    RELEASED
}
