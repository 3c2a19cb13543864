package io.dbsemaphore.engine.hold;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The grants that were checked in a transaction that is still open on the current thread, suspended ones included. A release
 * on this thread would wait for that transaction, and so for itself.
 */
public final class CheckedGrants {

    @SuppressWarnings("ThreadLocalUsage") // one for each engine, which is one for each database
    private final ThreadLocal<@Nullable Map<Long, Check>> open = new ThreadLocal<>();

    /** Records a check until the current transaction has completed. */
    public void add(long requestId, String externalId) {
        Map<Long, Check> checks = open.get();
        if (checks == null) {
            checks = new HashMap<>();
            open.set(checks);
        }
        checks.computeIfAbsent(requestId, id -> new Check(externalId)).transactions++;
        TransactionSynchronizationManager.registerSynchronization(new Completion(requestId, checks));
    }

    /**
     * Defers an action until the transaction that checked the grant has completed.
     *
     * @return false when there is no such transaction
     */
    public boolean defer(long requestId, Runnable action) {
        Map<Long, Check> checks = open.get();
        Check check = checks == null ? null : checks.get(requestId);
        if (check == null) {
            return false;
        }
        synchronized (check) {
            if (check.transactions == 0) {
                return false;
            }
            check.deferred.add(action);
            return true;
        }
    }

    /** Finds the request with this external id, if it was checked in a transaction that is still open on this thread. */
    public Optional<Long> find(String externalId) {
        Map<Long, Check> checks = open.get();
        return checks == null
                ? Optional.empty()
                : checks.entrySet().stream()
                        .filter(entry -> entry.getValue().externalId.equals(externalId))
                        .map(Map.Entry::getKey)
                        .findFirst();
    }

    private static final class Check {

        private final String externalId;
        private int transactions;
        private final List<Runnable> deferred = new ArrayList<>();

        Check(String externalId) {
            this.externalId = externalId;
        }
    }

    private final class Completion implements TransactionSynchronization {

        private final long requestId;
        private final Map<Long, Check> checks;

        Completion(long requestId, Map<Long, Check> checks) {
            this.requestId = requestId;
            this.checks = checks;
        }

        @Override
        public void afterCompletion(int status) {
            Check check = checks.get(requestId);
            if (check == null) {
                return;
            }
            List<Runnable> due;
            synchronized (check) {
                if (--check.transactions > 0) {
                    return;
                }
                due = List.copyOf(check.deferred);
            }
            checks.remove(requestId);
            if (checks.isEmpty()) {
                open.remove();
            }
            due.forEach(Runnable::run);
        }
    }
}
