package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.jdbc.SqlErrors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * A transaction of the library, separate from any transaction of the caller. It runs at {@code READ COMMITTED}, whatever
 * the host's default: at a stricter isolation level a sum after a lock may use a snapshot from before the lock. The
 * transaction runs on a thread of the library.
 */
public final class ShortTransaction {

    private static final Logger log = LoggerFactory.getLogger(ShortTransaction.class);

    private final PlatformTransactionManager transactions;
    private final SemaphoreDataSource connections;
    private final PersistenceUnit repositories;
    private final TransactionDefinition definition;

    public ShortTransaction(SemaphoreDataSource connections, PersistenceUnit repositories) {
        this.transactions = new DataSourceTransactionManager(connections);
        this.connections = connections;
        this.repositories = repositories;
        DefaultTransactionDefinition own =
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        own.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        this.definition = own;
    }

    /** {@linkplain #execute Executes} work that uses repositories; starts Hibernate before the transaction if it has not been started. */
    public <T extends @Nullable Object> T executeWithRepositories(Supplier<T> work) {
        repositories.start();
        return execute(work);
    }

    /**
     * Runs the work in a transaction and commits it. It may use SQL only.
     *
     * @throws CommitOutcomeUnknownException if the commit was sent and its outcome is unknown
     */
    public <T extends @Nullable Object> T execute(Supplier<T> work) {
        return connections.threads().call(() -> executeHere(work));
    }

    private <T extends @Nullable Object> T executeHere(Supplier<T> work) {
        TransactionStatus transaction = begin();
        T result;
        try {
            result = work.get();
        } catch (RuntimeException | Error failure) {
            throw rollBack(transaction, failure);
        }
        commit(transaction);
        return result;
    }

    /** {@linkplain #execute Executes} work without a result. */
    public void run(Runnable work) {
        execute(() -> {
            work.run();
            return null;
        });
    }

    /**
     * Begins a transaction on the calling thread, which must not be in a transaction of the host.
     *
     * @return the transaction, to be completed by {@link #commit} or {@link #rollBack}
     */
    public TransactionStatus begin() {
        try {
            return transactions.getTransaction(definition);
        } catch (RuntimeException | Error failure) {
            throw DataAccessFailures.translate(failure);
        }
    }

    /**
     * Commits the transaction.
     *
     * @throws CommitOutcomeUnknownException if the commit was sent and its outcome is unknown
     */
    public void commit(TransactionStatus transaction) {
        try {
            transactions.commit(transaction);
        } catch (RuntimeException | Error failure) {
            throw commitFailed(failure);
        }
    }

    /** Rolls back, and returns the exception to throw for the failure. */
    public RuntimeException rollBack(TransactionStatus transaction, Throwable failure) {
        try {
            try {
                connections.failed(failure);
            } finally {
                transactions.rollback(transaction);
            }
        } catch (RuntimeException | Error rollbackFailure) {
            log.debug("The rollback failed as well; the connection is evicted", rollbackFailure);
        }
        return DataAccessFailures.translate(failure);
    }

    private static RuntimeException commitFailed(Throwable failure) {
        return SqlErrors.isAnswerOfServer(failure)
                ? DataAccessFailures.translate(failure)
                : new CommitOutcomeUnknownException(failure);
    }
}
