package io.dbsemaphore.boot.mutex;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.config.SemaphoreSettings;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;

/**
 * Makes the requests that use semaphores as mutexes, one semaphore for each key. Immutable.
 *
 * <p>A request asks for the whole capacity, so that there is at most one holder: an operator can pause a mutex, but not give
 * it more holders.
 *
 * @param prefix the prefix of the semaphores' names, at least one character and no {@code *}
 * @param ttl the time to live unless a request says otherwise
 * @param keptAlive whether this instance renews a mutex until it is released, and releases it at a shutdown; otherwise it stays
 *     held until its time to live has passed, even if the instance stops
 */
public record MutexRequests(String prefix, Duration ttl, boolean keptAlive) {

    private static final String HASHED = "sha256:";
    /** Longer than any process runs: a leader keeps its lock for months, whatever {@code semaphore.defaults.max-hold} is. */
    private static final Duration UNTIL_RELEASED = Duration.ofDays(36_500);

    private static final int MAX_PREFIX = SemaphoreName.MAX_LENGTH - HASHED.length() - 64;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the prefix cannot begin a name, or the time to live is shorter than
     *     {@link AcquireRequest#MIN_TTL}
     */
    public MutexRequests {
        SemaphoreName.requireValid(prefix + HASHED);
        if (prefix.isEmpty() || prefix.length() > MAX_PREFIX || prefix.contains("*")) {
            throw new IllegalArgumentException(
                    "The prefix of the semaphores must have 1 to %d characters and no *: '%s'"
                            .formatted(MAX_PREFIX, prefix));
        }
        if (ttl.compareTo(AcquireRequest.MIN_TTL) < 0) {
            throw new IllegalArgumentException(
                    "The time to live must be at least %s: %s".formatted(AcquireRequest.MIN_TTL, ttl));
        }
    }

    /** {@return the pattern that the names of all mutexes match} */
    public String pattern() {
        return prefix + "*";
    }

    /**
     * Declares the pattern of the mutexes, with one permit each. If the application declares the pattern itself, its capacity stays.
     *
     * @param settings the settings of the application
     * @return the settings with the pattern
     */
    public SemaphoreSettings declareIn(SemaphoreSettings settings) {
        return settings.get(SemaphoreSettings.PATTERNS).containsKey(pattern())
                ? settings
                : settings.withPattern(pattern(), 1);
    }

    /**
     * Names the semaphore of a key: the prefix and the key, or, if that is not a valid name, the prefix and a hash of the key. Different
     * keys have different semaphores.
     *
     * @param key any text
     * @return the name
     */
    public String name(String key) {
        if (!key.isEmpty() && !key.startsWith(HASHED)) {
            try {
                return SemaphoreName.requireValid(prefix + key);
            } catch (IllegalArgumentException invalid) {
                // hashed
            }
        }
        return prefix + HASHED + hash(key);
    }

    /**
     * Returns whether a semaphore is one of these mutexes.
     *
     * @param name the name of the semaphore
     * @return true if it begins with the prefix
     */
    public boolean isName(String name) {
        return name.startsWith(prefix);
    }

    /**
     * Creates a request for the mutex of a key, without a wait time.
     *
     * @param key any text
     * @param timeToLive the time to live; a shorter one than {@link AcquireRequest#MIN_TTL} is raised to that
     * @return the request
     */
    public AcquireRequest of(String key, Duration timeToLive) {
        return AcquireRequest.of(name(key))
                .exclusive()
                .withWaitTime(Duration.ZERO)
                .withMaxHold(UNTIL_RELEASED)
                .withTtl(atLeastMinimum(timeToLive))
                .withKeepAlive(keptAlive)
                .withReleaseAtShutdown(keptAlive);
    }

    /**
     * Renews a mutex.
     *
     * @param grant the mutex
     * @param timeToLive the time to live from now on; a shorter one than {@link AcquireRequest#MIN_TTL} is raised to that
     * @return whether it is still held; false if it is lost
     */
    public static boolean renew(PermitGrant grant, Duration timeToLive) {
        try {
            grant.renew(atLeastMinimum(timeToLive));
            return true;
        } catch (PermitLostException lost) {
            return false;
        }
    }

    private static Duration atLeastMinimum(Duration timeToLive) {
        return timeToLive.compareTo(AcquireRequest.MIN_TTL) < 0 ? AcquireRequest.MIN_TTL : timeToLive;
    }

    /** Hashes the UTF-16 code units: an encoding would replace every half of a surrogate pair by the same character. */
    private static String hash(String key) {
        ByteBuffer units = ByteBuffer.allocate(key.length() * Character.BYTES);
        units.asCharBuffer().put(key);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(units.array()));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("Every Java platform has SHA-256", impossible);
        }
    }
}
