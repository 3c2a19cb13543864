package io.dbsemaphore;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Permits that were granted: the handle of one acquire. Safe for use by several threads.
 *
 * <p>Use it in try-with-resources, or release it in {@code finally}. All instants are the database's clock.
 */
public interface PermitGrant extends AutoCloseable {

    /** The idempotency key of the acquire, given by the caller or made up for it. */
    String externalId();

    /** Who holds the permits: what operators are shown. */
    String owner();

    /** The number of permits per semaphore name, in the order of the names. */
    Map<String, Integer> permits();

    /**
     * The fencing token of this grant on one of its semaphores. Tokens of one semaphore only grow: a later grant has a
     * higher one.
     *
     * @throws IllegalArgumentException when the grant has no permit of this name
     * @see <a href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">Martin Kleppmann, How
     *     to do distributed locking</a>
     */
    long fencingToken(String name);

    /**
     * The fencing token of a grant on one semaphore.
     *
     * @throws IllegalStateException when the grant is on several semaphores
     */
    long fencingToken();

    /** When the permits were acquired. */
    Instant acquiredAt();

    /** When the permits become takeable unless renewed; empty when they are held until released. */
    Optional<Instant> expiresAt();

    /** Whether an earlier acquire with this external id made the grant. */
    boolean replayed();

    /**
     * Whether, for all this JVM knows, the permits are held: false once released, found lost, or past the deadline on
     * this JVM's monotonic clock. No database access. {@link SemaphoreOperations#requireHeld} is the answer for a
     * transaction that must not commit without them.
     */
    boolean isHeld();

    /**
     * Sets the expiry to now + {@code ttl}, be that sooner or later than before.
     *
     * @return this grant
     * @throws PermitLostException when it is no longer held
     */
    PermitGrant renew(Duration ttl);

    /** Releases all permits of this grant. Doing it twice is harmless and says so. */
    ReleaseOutcome release();

    /** Does what {@link #release} does. */
    @Override
    default void close() {
        release();
    }
}
