package io.dbsemaphore.boot.integration;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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

    /** How many are deleted at once where no more may be created. */
    private static final int AT_ONCE = 50;

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
            admin.find(name).filter(UnusedSemaphores::isUnused).ifPresent(status -> admin.delete(name));
        } catch (SemaphoreException | DataAccessException failure) {
            log.debug("Semaphore '{}' of an unused lock was not deleted; the maintenance does it later", name, failure);
        }
    }

    /**
     * Deletes some semaphores of locks, whichever instance remembers them: one that has stopped remembers none. An instance that
     * needs one of them again creates it. Stops at the first failure of the database, so that the caller is not delayed further.
     */
    void deleteSome() {
        try {
            List<String> unused = new ArrayList<>(admin.list().stream()
                    .filter(status -> requests.isName(status.name()) && isUnused(status))
                    .map(SemaphoreStatus::name)
                    .toList());
            Collections.shuffle(unused); // several instances may do this at the same time
            unused.stream().limit(AT_ONCE).forEach(this::delete);
        } catch (DataAccessException failure) {
            log.debug("A semaphore of an unused lock was not deleted; the maintenance does it later", failure);
        }
    }

    private void delete(String name) {
        try {
            admin.delete(name);
        } catch (SemaphoreInUseException used) {
            log.debug("Semaphore '{}' is used again", name, used);
        }
    }

    private static boolean isUnused(SemaphoreStatus status) {
        return status.capacity() == 1 && status.held() == 0 && status.waiting() == 0;
    }
}
