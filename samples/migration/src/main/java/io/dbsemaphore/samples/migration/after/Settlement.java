package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.Permits;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.transaction.annotation.Transactional;

/** Without a locked row: semaphore.semaphores.settlement.capacity=1. */
public class Settlement {

    private final SemaphoreOperations semaphores;

    public Settlement(SemaphoreOperations semaphores) {
        this.semaphores = semaphores;
    }

    @WithPermits(names = "settlement", waitTime = "10s")
    @Transactional
    public void settle(Runnable work) {
        work.run();
        semaphores.requireHeld(Permits.current()); // cannot commit if the permit was taken away
    }
}
