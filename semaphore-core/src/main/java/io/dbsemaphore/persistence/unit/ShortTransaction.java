package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.jdbc.SqlErrors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A transaction of the library's own: never the caller's, and at {@code READ COMMITTED} whatever the host's default,
 * since at a stricter level a sum after a lock may be older than the lock.
 */
public final class ShortTransaction {

    private final TransactionTemplate template;
    private final SemaphoreDataSource connections;

    public ShortTransaction(PlatformTransactionManager transactionManager, SemaphoreDataSource connections) {
        this.connections = connections;
        template = new TransactionTemplate(transactionManager);
        template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        template.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    }

    /**
     * Runs the work and commits, on a thread of the library where the calling one may be in a transaction of the host.
     *
     * @throws CommitOutcomeUnknownException when the commit was sent and nobody knows what became of it
     */
    public <T extends @Nullable Object> T execute(Supplier<T> work) {
        return connections.threads().call(() -> executeHere(work));
    }

    private <T extends @Nullable Object> T executeHere(Supplier<T> work) {
        Watched<T> watched = new Watched<>(work, connections);
        try {
            return template.<T>execute(status -> watched.run());
        } catch (RuntimeException | Error failure) {
            if (watched.done && !SqlErrors.isAnswerOfServer(failure)) {
                throw new CommitOutcomeUnknownException(failure);
            }
            throw DataAccessFailures.translate(failure);
        }
    }

    private static final class Watched<T extends @Nullable Object> {

        private final Supplier<T> work;
        private final SemaphoreDataSource connections;
        private boolean done;

        Watched(Supplier<T> work, SemaphoreDataSource connections) {
            this.work = work;
            this.connections = connections;
        }

        T run() {
            try {
                T result = work.get();
                done = true; // what fails from here on, fails in the commit
                return result;
            } catch (RuntimeException | Error failure) {
                connections.failed(failure);
                throw failure;
            }
        }
    }
}
