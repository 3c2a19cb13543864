package io.dbsemaphore.boot.shedlock;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A lock provider of ShedLock. A lock is a semaphore whose only permit the holder has, in all instances of the application.
 * Thread-safe.
 *
 * <p>{@code lockAtMostFor} is the time to live of the permit, {@link AcquireRequest#MIN_TTL} if it is shorter than that. A lock
 * that is unlocked before {@code lockAtLeastFor} has passed gets the rest as its time to live, by the clock of the database: it
 * stays locked even if the instance stops. A rest that is shorter than {@link AcquireRequest#MIN_TTL} is awaited by
 * {@code unlock}.
 */
public final class SemaphoreLockProvider implements ExtensibleLockProvider {

    private final SemaphoreOperations semaphores;
    private final MutexRequests requests;

    /**
     * Creates a provider.
     *
     * @param semaphores what the locks are acquired by
     * @param prefix what the names of the semaphores begin with; the name of the lock follows. There must be a pattern that
     *     matches these names
     * @throws IllegalArgumentException if the prefix cannot begin a name
     */
    public SemaphoreLockProvider(SemaphoreOperations semaphores, String prefix) {
        this.semaphores = semaphores;
        this.requests = requests(prefix);
    }

    /** Each lock says itself how long it is held at most. */
    static MutexRequests requests(String prefix) {
        return new MutexRequests(prefix, AcquireRequest.MIN_TTL, false);
    }

    /**
     * {@inheritDoc}
     *
     * @throws org.springframework.dao.DataAccessException if the database fails in spite of the retries; nothing is locked
     * @throws io.dbsemaphore.SemaphoreException if the acquire fails otherwise, as when this instance is stopped. Nothing is locked,
     *     except after an {@link io.dbsemaphore.AcquireOutcomeUnknownException} until the library has undone it
     * @throws org.springframework.transaction.IllegalTransactionStateException if a transaction is open, and
     *     {@code semaphore.host-transaction} is {@code refuse}
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        return semaphores
                .tryAcquire(requests.of(configuration.getName(), configuration.getLockAtMostFor()))
                .map(grant -> new SemaphoreLock(configuration, grant));
    }
}
