package io.dbsemaphore.boot.actuate;

/** An operation of the endpoint that has not been switched on. */
final class OperationDisabledException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OperationDisabledException(String property) {
        super("This operation is switched off. Set %s=true to allow it.".formatted(property));
    }
}
