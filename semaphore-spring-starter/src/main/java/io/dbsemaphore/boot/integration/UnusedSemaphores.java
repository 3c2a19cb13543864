package io.dbsemaphore.boot.integration;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Deletes the semaphores of locks that this instance has forgotten, since keys may be as many as messages. Those that another
 * instance uses stay, and so do those whose capacity an operator has changed.
 */
final class UnusedSemaphores implements Consumer<String> {

    private static final Logger log = LoggerFactory.getLogger(UnusedSemaphores.class);

    private final SemaphoreAdmin admin;
    private final MutexRequests requests;

    UnusedSemaphores(SemaphoreAdmin admin, MutexRequests requests) {
        this.admin = admin;
        this.requests = requests;
    }

    @Override
    public void accept(String key) {
        String name = requests.name(key);
        try {
            admin.find(name)
                    .filter(status -> status.capacity() == 1 && status.held() == 0 && status.waiting() == 0)
                    .ifPresent(status -> admin.delete(name));
        } catch (SemaphoreException | DataAccessException failure) {
            log.debug("Semaphore '{}' of an unused lock was not deleted; the maintenance does it later", name, failure);
        }
    }
}
