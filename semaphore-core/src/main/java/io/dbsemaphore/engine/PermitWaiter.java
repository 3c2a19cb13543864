package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.GrantOutcome;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Tries again until there is room or the wait is over. Between two tries it holds no connection and no transaction of
 * ours; a release in this JVM ends the pause early.
 */
final class PermitWaiter {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private long changes;
    private volatile boolean closed;

    /**
     * Calls until the outcome is another than a refusal, or the wait time is over. Who has lost against another
     * transaction is as good as refused.
     *
     * @throws AcquireInterruptedException when interrupted before or during a pause; nothing is held
     * @throws SemaphoreClosedException when closed before or during a pause; nothing is held
     */
    Grants.Answer await(GrantOrder order, Wait wait, Supplier<Grants.Answer> attempt) {
        BackOffExecution pauses = Pauses.begin();
        while (true) {
            if (Thread.currentThread().isInterrupted()) {
                throw new AcquireInterruptedException(order.permits().keySet());
            }
            if (closed) {
                throw new SemaphoreClosedException();
            }
            long seen = changes();
            try {
                Grants.Answer answer = attempt.get();
                if (!(answer.outcome() instanceof GrantOutcome.Refused)
                        || wait.deadline().isPassed()) {
                    return answer;
                }
            } catch (RuntimeException failure) {
                if (!SqlErrors.isVictim(failure) || wait.deadline().isPassed()) {
                    throw failure;
                }
            }
            pause(
                    order,
                    seen,
                    Math.min(wait.deadline().remainingNanos(), TimeUnit.MILLISECONDS.toNanos(pauses.nextBackOff())));
        }
    }

    /** Permits may have become free. */
    void signal() {
        lock.lock();
        try {
            changes++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends every wait. */
    void close() {
        closed = true;
        signal();
    }

    private long changes() {
        lock.lock();
        try {
            return changes;
        } finally {
            lock.unlock();
        }
    }

    private void pause(GrantOrder order, long seen, long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (left > 0 && changes == seen) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new AcquireInterruptedException(order.permits().keySet());
        } finally {
            lock.unlock();
        }
    }
}
