package io.dbsemaphore.boot.actuate;

/** Thrown for an operation of the endpoint that is not enabled, or not for this request. */
final class OperationDisabledException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private OperationDisabledException(String message) {
        super(message);
    }

    static OperationDisabledException enabledBy(String property) {
        return new OperationDisabledException(
                "This operation is disabled. Set %s=true to enable it.".formatted(property));
    }

    static OperationDisabledException withoutUser() {
        return new OperationDisabledException(
                "Nothing was changed: the request has no authenticated user. Sign in. In an application"
                        + " without a login, set semaphore.endpoint.anonymous-write-enabled=true only where nobody else reaches the"
                        + " endpoint: neither other hosts nor a browser that also opens pages of other sites.");
    }
}
