package io.dbsemaphore.persistence;

/** A semaphore was deleted, and perhaps made again, since its id was remembered: the transaction must begin anew. */
final class StaleSemaphoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StaleSemaphoreException(String name) {
        super("Semaphore '" + name + "' was deleted while permits of it were being acquired");
    }
}
