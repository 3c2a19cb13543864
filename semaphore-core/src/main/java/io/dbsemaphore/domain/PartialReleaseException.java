package io.dbsemaphore.domain;

/** One of several requests that were to be released together is no longer held. Releasing each by itself shows which. */
public final class PartialReleaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public PartialReleaseException() {
        super("One of several requests that were to be released together is released already");
    }
}
