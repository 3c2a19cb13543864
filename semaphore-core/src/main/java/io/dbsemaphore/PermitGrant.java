package io.dbsemaphore;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * The permits that one acquire was granted. Thread-safe.
 *
 * <p>Use it in try-with-resources, or release it in a {@code finally} block. If the work may take longer than the time to live, acquire
 * with {@link AcquireRequest#withKeepAlive withKeepAlive(true)}. All instants are read from the database's clock. Only {@link #renew},
 * {@link #release} and {@link #close} access the database.
 */
public interface PermitGrant extends AutoCloseable {

    /** {@return the external id of the request, or one that was generated for it} */
    String externalId();

    /** {@return the owner, which operators see as the holder of the permits} */
    String owner();

    /** {@return the label, which tells operators what holds the permits; empty if the request has none or its permits may be reused} */
    default Optional<String> label() {
        return Optional.empty();
    }

    /** {@return the number of permits for each semaphore, ordered by name; unmodifiable} */
    Map<String, Integer> permits();

    /**
     * Returns the fencing token of this grant for one of its semaphores. The tokens of a semaphore increase with each
     * grant: a store that remembers the highest one can reject a holder that has lost its permit. This works for a
     * capacity of 1 only. With a higher capacity several tokens are valid at the same time: use
     * {@link SemaphoreOperations#requireHeld}.
     *
     * @param name the semaphore
     * @return the token
     * @throws IllegalArgumentException if the grant has no permit of this semaphore
     * @see <a href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">Martin Kleppmann, How
     *     to do distributed locking</a>
     */
    long fencingToken(String name);

    /**
     * Returns the {@linkplain #fencingToken(String) fencing token} of a grant on a single semaphore.
     *
     * @return the token
     * @throws IllegalStateException if the grant is on several semaphores
     */
    default long fencingToken() {
        Set<String> names = permits().keySet();
        if (names.size() != 1) {
            throw new IllegalStateException(
                    "The grant is on " + names + ", each with a token of its own: ask for fencingToken(name)");
        }
        return fencingToken(names.iterator().next());
    }

    /** {@return when the permits were acquired} */
    Instant acquiredAt();

    /**
     * {@return when the grant expires unless it is renewed, as of the last acquire or renewal through this JVM; empty
     * if it is held until released}
     */
    Optional<Instant> expiresAt();

    /** {@return whether an earlier acquire with the same external id made this grant} */
    boolean isReplayed();

    /**
     * Returns whether an earlier holder in this JVM released the permits and this acquire took them over without a transaction.
     * True only if {@code reuse} is configured for the semaphore.
     *
     * @return whether the permits are reused
     */
    default boolean isReused() {
        return false;
    }

    /**
     * Returns whether the permits are held, as far as this JVM knows: false once the grant was released, was found to
     * be lost, or has expired by this JVM's monotonic clock. As with every lease, a true answer may be outdated as soon
     * as it is given: in a transaction that must not commit without the permits, use
     * {@link SemaphoreOperations#requireHeld}.
     *
     * @return whether the permits are held
     * @see <a href="https://doi.org/10.1145/74850.74870">C. Gray and D. Cheriton, Leases: An Efficient Fault-Tolerant
     *     Mechanism for Distributed File Cache Consistency (1989)</a>
     */
    boolean isHeld();

    /**
     * Sets the expiry to the current time plus {@code ttl}, which may be sooner or later than before. Same as
     * {@link SemaphoreOperations#renew}.
     *
     * @param ttl the new time to live, between {@link AcquireRequest#MIN_TTL} and {@code semaphore.max-ttl}
     * @return this grant
     * @throws PermitLostException if the grant is no longer held
     * @throws IllegalArgumentException if the time to live is out of bounds
     * @throws org.springframework.dao.DataAccessException if the database fails despite the retries
     */
    PermitGrant renew(Duration ttl);

    /**
     * Releases all permits of this grant. May be called by any thread, any number of times; a call after a successful
     * release returns {@link ReleaseOutcome#ALREADY_RELEASED} without accessing the database.
     *
     * <p>Runs in its own transaction and returns after its commit, except if the result is
     * {@link ReleaseOutcome#DEFERRED}. From the call on, {@link #isHeld} is false and the grant is no longer kept
     * alive, whether or not the release succeeds. A failure is logged, the result is then
     * {@link ReleaseOutcome#DEFERRED}, and the library repeats the release in the background until it succeeds or the time to live has
     * passed. An interrupt does not abort the release; the interrupt flag is preserved.
     *
     * <p>If the permits were already reclaimed or released by force, the loss is reported, once for each grant.
     *
     * @return the outcome of the release
     * @throws org.springframework.dao.DataAccessException if the database fails despite the retries while the library is shut down and
     *     cannot repeat the release
     */
    ReleaseOutcome release();

    /**
     * Releases the grant as {@link #release} does, and ignores the outcome. A failure is logged and not thrown, because it must not replace
     * the result or the exception of the work.
     */
    @Override
    default void close() {
        try {
            release();
        } catch (RuntimeException failure) {
            LoggerFactory.getLogger(PermitGrant.class)
                    .warn(
                            "The release of grant {} failed and cannot be repeated; its permits are available when their TTL has"
                                    + " passed",
                            externalId(),
                            failure);
        }
    }
}
