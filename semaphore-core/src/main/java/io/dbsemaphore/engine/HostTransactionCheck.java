package io.dbsemaphore.engine;

import io.dbsemaphore.config.HostTransaction;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Checks, before the database is accessed, whether an acquire is made within an open transaction of the application. */
final class HostTransactionCheck {

    private static final Logger log = LoggerFactory.getLogger(HostTransactionCheck.class);

    private final HostTransaction choice;
    private final AtomicBoolean warned = new AtomicBoolean();

    HostTransactionCheck(HostTransaction choice) {
        this.choice = choice;
    }

    /**
     * Checks an acquire of these semaphores.
     *
     * @throws IllegalTransactionStateException when such acquires are refused
     */
    void check(Object names) {
        if (choice == HostTransaction.ALLOW || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return;
        }
        if (choice == HostTransaction.REFUSE) {
            throw new IllegalTransactionStateException(
                    "%s cannot be acquired within an open transaction (semaphore.host-transaction=refuse): it keeps one"
                                    .formatted(names)
                            + " connection of the pool while the acquire needs another. Acquire before the transaction"
                            + " begins, as @WithPermits does. Nothing was acquired");
        }
        if (warned.compareAndSet(false, true)) {
            log.warn(
                    "{} is acquired within an open transaction, which keeps one connection of the pool while the acquire"
                            + " needs another: as many of these at once as the pool has connections wait for each other"
                            + " until the pool gives up. Acquire before the transaction begins, as @WithPermits does; or"
                            + " make the pool larger than the number of threads that do this, and set"
                            + " semaphore.host-transaction=allow. This warning is logged once",
                    names);
        }
    }
}
