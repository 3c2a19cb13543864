package io.dbsemaphore.test;

import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Instant;
import org.springframework.transaction.support.TransactionTemplate;

/** The contract of semaphores in memory, at a time that stands still until it is moved. */
class InMemoryContractTests extends SemaphoreContract {

    private final InMemorySemaphores semaphores = new InMemorySemaphores(
            settings(SemaphoreSettings.defaults()), MovableClock.stoppedAt(Instant.parse("2026-02-03T04:05:06Z")));

    @Override
    SemaphoreTemplate semaphores() {
        return semaphores;
    }

    @Override
    SemaphoreAdmin admin() {
        return semaphores.admin();
    }

    @Override
    void awaitTime(Instant instant) {
        semaphores.clock().set(instant);
    }

    @Override
    TransactionTemplate transaction() {
        return new TransactionTemplate(new TransactionsWithoutResources());
    }
}
