package io.dbsemaphore.samples.recipes.perkey;

import io.dbsemaphore.Permits;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Entries of one account are booked one after the other, those of different accounts at the same time. */
@Service
class Accounts {

    private final SemaphoreTemplate semaphores;
    private final Work work;

    Accounts(SemaphoreTemplate semaphores, Work work) {
        this.semaphores = semaphores;
        this.work = work;
    }

    @WithPermits(names = "account:#{#account}", waitTime = "1m")
    @Transactional
    public void book(String account, String entry) {
        work.run(account + ":" + entry);
        semaphores.requireHeld(Permits.current()); // or this transaction does not commit
    }
}
