package io.dbsemaphore.domain;

/** Of requests that were to be released together one was not held: which one, each finds out by itself. */
public final class PartialReleaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public PartialReleaseException() {
        super("One of several requests that were to be released together is released already");
    }
}
