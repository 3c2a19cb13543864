package io.dbsemaphore.test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The grants that the open transaction of a thread has checked: it releases them when that has completed. */
final class CheckedGrants {

    /** @throws IllegalTransactionStateException if no grant could be checked on a database */
    static void requireTransaction() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new IllegalTransactionStateException(
                    "requireHeld needs an open, writable transaction on the calling thread: without one, it would prevent nothing from"
                            + " committing. Whether the grant is held is not known. In a unit test, call it in a TransactionTemplate");
        }
    }

    void add(String externalId) {
        if (TransactionSynchronizationManager.getResource(this) instanceof OfTransaction open) {
            open.externalIds.add(externalId);
        } else if (TransactionSynchronizationManager.isSynchronizationActive()) {
            OfTransaction begun = new OfTransaction();
            begun.externalIds.add(externalId);
            TransactionSynchronizationManager.bindResource(this, begun);
            TransactionSynchronizationManager.registerSynchronization(begun);
        }
    }

    /** Releases a grant later if the transaction of this thread has checked it. */
    boolean defer(String externalId, Runnable release) {
        return TransactionSynchronizationManager.getResource(this) instanceof OfTransaction open
                && open.externalIds.contains(externalId)
                && open.releases.add(release);
    }

    private final class OfTransaction implements TransactionSynchronization {

        private final Set<String> externalIds = new HashSet<>();
        private final List<Runnable> releases = new ArrayList<>();

        @Override
        public void afterCompletion(int status) {
            TransactionSynchronizationManager.unbindResource(CheckedGrants.this);
            releases.forEach(Runnable::run);
        }
    }
}
