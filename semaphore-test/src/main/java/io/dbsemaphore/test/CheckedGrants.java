package io.dbsemaphore.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The grants that open transactions of a thread have checked, including suspended transactions. The thread releases each grant when
 * all transactions that have checked it have completed.
 */
final class CheckedGrants {

    @SuppressWarnings("ThreadLocalUsage") // one for each InMemorySemaphores
    private final ThreadLocal<List<Check>> open = ThreadLocal.withInitial(ArrayList::new);

    /** @throws IllegalTransactionStateException without a transaction, or in one in which the engine could not check a grant */
    static void requireTransaction() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive() // the transaction has completed
                || TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new IllegalTransactionStateException(
                    "requireHeld needs an open, writable transaction on the calling thread: without one, it would prevent nothing from"
                            + " committing. Whether the grant is held is not known. In a unit test, call it in a TransactionTemplate");
        }
    }

    void add(String externalId) {
        TransactionSynchronizationManager.registerSynchronization(new Check(externalId, open.get()));
    }

    /** Releases a grant later if a transaction of this thread has checked it. */
    boolean defer(String externalId, Runnable release) {
        return defer(open.get(), externalId, List.of(release));
    }

    private static boolean defer(List<Check> checks, String externalId, List<Runnable> releases) {
        synchronized (checks) {
            Optional<Check> other = checks.stream()
                    .filter(check -> check.externalId.equals(externalId))
                    .findFirst();
            other.ifPresent(check -> check.releases.addAll(releases));
            return other.isPresent();
        }
    }

    /** One check, until its transaction has completed, possibly on another thread. */
    private static final class Check implements TransactionSynchronization {

        private final String externalId;
        private final List<Check> checks;
        private final List<Runnable> releases = new ArrayList<>();

        Check(String externalId, List<Check> checks) {
            this.externalId = externalId;
            this.checks = checks;
            synchronized (checks) {
                checks.add(this);
            }
        }

        /** Leaves the releases to another check of the grant, if there is one. */
        @Override
        public void afterCompletion(int status) {
            synchronized (checks) {
                checks.remove(this);
                if (defer(checks, externalId, releases)) {
                    return;
                }
            }
            releases.forEach(Runnable::run);
        }
    }
}
