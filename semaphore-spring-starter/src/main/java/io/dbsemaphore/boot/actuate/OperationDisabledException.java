package io.dbsemaphore.boot.actuate;

/** Thrown for an operation of the endpoint that is not enabled. */
final class OperationDisabledException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OperationDisabledException(String property) {
        super("This operation is disabled. Set %s=true to enable it.".formatted(property));
    }
}
