package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Session;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;

/**
 * A transaction of the library, separate from any transaction of the caller. It runs at {@code READ COMMITTED}, whatever
 * the host's default: at a stricter isolation level a sum after a lock may use a snapshot from before the lock. It runs on
 * a thread of the library, on which its work finds the session ({@link Sessions#current}).
 */
public record ShortTransaction(Sessions sessions, PersistenceUnit repositories) {

    private static final Logger log = LoggerFactory.getLogger(ShortTransaction.class);

    /** {@linkplain #execute Executes} work that uses repositories. Starts Hibernate first, unless it has been started. */
    public <T extends @Nullable Object> T executeWithRepositories(Supplier<T> work) {
        repositories.start();
        return execute(work);
    }

    /** {@linkplain #execute Executes} work without a result. */
    public void run(Runnable work) {
        execute(() -> {
            work.run();
            return null;
        });
    }

    /**
     * Runs work in a transaction and commits it. The work may use SQL only.
     *
     * @throws CommitOutcomeUnknownException if the commit was not answered
     */
    public <T extends @Nullable Object> T execute(Supplier<T> work) {
        return sessions.threads().call(() -> executeHere(work));
    }

    /** {@linkplain #execute Executes} work on the current thread, which must be one of the library's. */
    public <T extends @Nullable Object> T executeHere(Supplier<T> work) {
        Session session = begin();
        try {
            T result;
            try {
                result = work.get();
            } catch (RuntimeException failure) {
                session.failed(failure);
                throw TransactionFailures.translate(failure);
            }
            commit(session);
            return result;
        } finally {
            end();
        }
    }

    /** Runs work and rolls it back. The current thread must be one of the library's. */
    public void rollBack(Runnable work) {
        Session session = begin();
        try {
            work.run();
        } catch (RuntimeException failure) {
            session.failed(failure);
            throw TransactionFailures.translate(failure);
        } finally {
            end();
        }
    }

    private Session begin() {
        try {
            return sessions.begin();
        } catch (SQLException | RuntimeException failure) {
            throw TransactionFailures.translate(
                    new DataAccessResourceFailureException("No connection for a transaction of a semaphore", failure));
        }
    }

    private static void commit(Session session) {
        try {
            session.commit();
        } catch (SQLException | RuntimeException | Error failure) {
            session.failed(failure);
            throw SqlErrors.isAnswerOfServer(failure)
                    ? TransactionFailures.translate(failure)
                    : new CommitOutcomeUnknownException(failure);
        }
    }

    private void end() {
        try {
            try {
                repositories.leave();
            } finally {
                sessions.end();
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("A connection could not be returned after a transaction", failure);
        }
    }
}
