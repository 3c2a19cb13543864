package io.dbsemaphore.boot.shedlock;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.engine.hold.GrantHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock provider of ShedLock. A lock is a semaphore with one permit, for all instances of the application. Thread-safe.
 *
 * <p>{@code lockAtMostFor} is the time to live of the permit, at least {@link AcquireRequest#MIN_TTL}. A lock that is unlocked
 * before {@code lockAtLeastFor} has passed gets the rest as its time to live, by the clock of the database: it stays locked even if
 * the instance stops. If the rest is shorter than {@link AcquireRequest#MIN_TTL}, {@code unlock} waits for it to pass.
 */
public final class SemaphoreLockProvider implements ExtensibleLockProvider {

    private final SemaphoreOperations semaphores;
    private final MutexRequests requests;

    /**
     * Creates a provider.
     *
     * @param semaphores acquires the locks
     * @param prefix the prefix of the names of the semaphores, followed by the name of the lock. A pattern must match these names
     * @throws IllegalArgumentException if the prefix cannot begin a name
     */
    public SemaphoreLockProvider(SemaphoreOperations semaphores, String prefix) {
        this.semaphores = semaphores;
        this.requests = requests(prefix);
    }

    /** The time to live is a placeholder: each lock has its own. */
    static MutexRequests requests(String prefix) {
        return new MutexRequests(prefix, AcquireRequest.MIN_TTL, false);
    }

    /**
     * {@inheritDoc}
     *
     * @throws org.springframework.dao.DataAccessException if the database fails despite the retries; nothing is locked
     * @throws io.dbsemaphore.SemaphoreException if the acquire fails otherwise, for example because this instance is stopped. Nothing is
     *     locked; but after an {@link io.dbsemaphore.AcquireOutcomeUnknownException}, the lock may be held until the library has undone the
     *     acquire
     * @throws org.springframework.transaction.IllegalTransactionStateException if a transaction is open, and
     *     {@code semaphore.host-transaction} is {@code refuse}
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        return semaphores
                .tryAcquire(requests.of(configuration.getName(), configuration.getLockAtMostFor()))
                .map(grant -> new SemaphoreLock(configuration, grant));
    }

    /** A lock that was acquired or extended: valid until it is unlocked or extended again. */
    static final class SemaphoreLock extends AbstractSimpleLock {

        private static final Logger log = LoggerFactory.getLogger(SemaphoreLock.class);

        private final PermitGrant grant;
        private final long lockedAt = System.nanoTime();

        SemaphoreLock(LockConfiguration configuration, PermitGrant grant) {
            super(configuration);
            this.grant = grant;
        }

        @Override
        protected void doUnlock() {
            Duration rest = lockConfiguration.getLockAtLeastFor().minus(age());
            boolean passed = rest.compareTo(AcquireRequest.MIN_TTL) < 0 && await(rest);
            boolean held = passed ? release() : MutexRequests.renew(grant, rest);
            if (held && !passed) {
                GrantHandle.leave(grant);
            } else if (!held) {
                log.warn(
                        "ShedLock's lock '{}' was lost before it was unlocked: its lockAtMostFor of {} has passed, or an operator"
                                + " released it. Another instance may have run the task at the same time",
                        lockConfiguration.getName(),
                        lockConfiguration.getLockAtMostFor());
            }
        }

        /** Releases a lock that has expired by this JVM's clock instead of extending it, although its permit may last longer. */
        @Override
        protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
            if (age().compareTo(lockConfiguration.getLockAtMostFor()) >= 0) {
                release();
                return Optional.empty();
            }
            return MutexRequests.renew(grant, extended.getLockAtMostFor())
                    ? Optional.of(new SemaphoreLock(extended, grant))
                    : Optional.empty();
        }

        private Duration age() {
            return Duration.ofNanos(System.nanoTime() - lockedAt);
        }

        private boolean release() {
            ReleaseOutcome outcome = grant.release();
            return outcome == ReleaseOutcome.RELEASED || outcome == ReleaseOutcome.DEFERRED;
        }

        /** Waits; returns false, with the interrupt flag set, if the thread is interrupted. */
        private static boolean await(Duration rest) {
            try {
                TimeUnit.NANOSECONDS.sleep(rest.toNanos());
                return true;
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }
}
