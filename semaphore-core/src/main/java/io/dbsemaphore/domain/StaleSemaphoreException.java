package io.dbsemaphore.domain;

/** A semaphore was deleted, and perhaps made again, since its id was remembered: the transaction must begin anew. */
public final class StaleSemaphoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StaleSemaphoreException(String name) {
        super("Semaphore '" + name + "' was deleted while permits of it were being acquired");
    }
}
