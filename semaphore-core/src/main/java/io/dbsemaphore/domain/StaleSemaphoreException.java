package io.dbsemaphore.domain;

/** A semaphore was deleted, and perhaps created again, after its id was cached. The transaction must be repeated. */
public final class StaleSemaphoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StaleSemaphoreException(String name) {
        super("Semaphore '" + name + "' was deleted while permits of it were being acquired");
    }
}
