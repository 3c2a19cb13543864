package io.dbsemaphore;

import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.ShareWeights;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Describes an acquire: which permits, for how long, and how long to wait for them. Immutable. A request without an
 * external id may be a constant that any number of threads use.
 *
 * <p>Each {@code with...} method returns a changed copy. It throws {@link IllegalArgumentException} for an invalid value. The
 * acquire checks configured limits ({@code semaphore.max-ttl}, {@code semaphore.max-head-start},
 * {@code semaphore.max-names-per-request}) before it uses the database.
 */
public final class AcquireRequest {

    /** The shortest time to live: 1 second. A shorter one could expire before the answer of the acquire arrives. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    private final Settings settings;

    private AcquireRequest(Settings settings) {
        this.settings = settings;
    }

    /**
     * Creates a request for one permit of each semaphore. Giving a name twice asks for two of its permits.
     *
     * @param names the semaphores, at least one
     * @return the request
     * @throws IllegalArgumentException if no name is given, or one is invalid (see {@link SemaphoreName})
     */
    public static AcquireRequest of(String... names) {
        if (names.length == 0) {
            throw new IllegalArgumentException("An acquire needs the name of at least one semaphore");
        }
        if (names.length == 1) {
            return new AcquireRequest(new Settings(Collections.singletonMap(SemaphoreName.requireValid(names[0]), 1)));
        }
        Map<String, Integer> permits = new LinkedHashMap<>();
        for (String name : names) {
            permits.merge(SemaphoreName.requireValid(name), 1, Math::addExact);
        }
        return new AcquireRequest(new Settings(Collections.unmodifiableMap(permits)));
    }

    /**
     * Creates a request for several permits of one semaphore.
     *
     * @param name the semaphore
     * @param count the number of permits, at least 1
     * @return the request
     * @throws IllegalArgumentException if the name is invalid (see {@link SemaphoreName}), or the count is less than 1
     */
    public static AcquireRequest of(String name, int count) {
        return of(name).withPermits(name, count);
    }

    /**
     * Sets how many permits of a semaphore to acquire. Replaces an earlier count for this name, and adds the name if
     * the request does not have it.
     *
     * @param name the semaphore
     * @param count the number of permits, at least 1
     * @return the changed request
     * @throws IllegalArgumentException if the name is invalid, the count is less than 1, or the request is exclusive
     *     and the count is not 1
     */
    public AcquireRequest withPermits(String name, int count) {
        SemaphoreName.requireValid(name);
        if (count < 1) {
            throw new IllegalArgumentException(
                    "The number of permits of semaphore '%s' must be at least 1: %d".formatted(name, count));
        }
        if (settings.exclusive) {
            requireOne(name, count);
        }
        Map<String, Integer> permits = new LinkedHashMap<>(settings.permits);
        permits.put(name, count);
        return with(copy -> copy.permits = Collections.unmodifiableMap(permits));
    }

    /**
     * Asks for the whole capacity of every name, like the write side of a read/write lock. The request is granted when no permit of these
     * semaphores is held. While it is held, nobody else gets any of their permits, even if the capacity is raised. Default: not
     * exclusive.
     *
     * @return the changed request
     * @throws IllegalArgumentException if the request asks for more than one permit of a name
     */
    public AcquireRequest exclusive() {
        settings.permits.forEach(AcquireRequest::requireOne);
        return with(copy -> copy.exclusive = true);
    }

    /**
     * Sets the time to live: the grant expires this long after the acquire unless it is renewed. This does not limit work under a grant
     * that is kept alive; {@link #withMaxHold} does. Default: {@code semaphore.defaults.ttl} (5 minutes). Upper limit:
     * {@code semaphore.max-ttl} (30 days), checked by the acquire. Replaces {@link #withoutTtl}.
     *
     * @param ttl the time to live, at least {@link #MIN_TTL}
     * @return the changed request
     * @throws IllegalArgumentException if it is shorter than {@link #MIN_TTL}
     */
    public AcquireRequest withTtl(Duration ttl) {
        if (ttl.compareTo(MIN_TTL) < 0) {
            throw new IllegalArgumentException("The TTL must be at least %s: %s".formatted(MIN_TTL, ttl));
        }
        return with(copy -> {
            copy.ttl = ttl;
            copy.withoutTtl = false;
        });
    }

    /**
     * Asks for a grant that never expires, for registrations and slots that outlive processes. If the holder crashes, the grant stays held
     * until someone or the maintenance releases it (see {@link OwnerLiveness} and {@code semaphore.maintenance.stale-after}, 24 hours). The
     * grant is not kept alive. Replaces {@link #withTtl}. Default: {@code semaphore.defaults.ttl}.
     *
     * @return the changed request
     */
    public AcquireRequest withoutTtl() {
        return with(copy -> {
            copy.ttl = null;
            copy.withoutTtl = true;
        });
    }

    /**
     * Sets the time after which a grant that is kept alive ends even if its work goes on: its permits are then available to others, and
     * its holder is notified of the loss. Default: {@code semaphore.semaphores.<name>.max-hold}, or else
     * {@code semaphore.defaults.max-hold} (24 hours). For several semaphores, the shortest of their defaults applies. Has no effect on a
     * grant that is not kept alive.
     *
     * @param limit the limit, counted from the acquire, at least {@link #MIN_TTL}
     * @return the changed request
     * @throws IllegalArgumentException if it is shorter than {@link #MIN_TTL}
     */
    public AcquireRequest withMaxHold(Duration limit) {
        if (limit.compareTo(MIN_TTL) < 0) {
            throw new IllegalArgumentException("The maximum hold must be at least %s: %s".formatted(MIN_TTL, limit));
        }
        return with(copy -> copy.maxHold = limit);
    }

    /**
     * Sets how long to wait for permits that are not available; zero means not to wait. Default:
     * {@code semaphore.semaphores.<name>.wait-time}, or else {@code semaphore.defaults.wait-time} (zero). For several semaphores, the
     * longest of their defaults applies. {@code semaphore.semaphores.<name>.max-waiting} limits how many callers wait.
     *
     * @param waitTime the longest wait, zero or positive
     * @return the changed request
     * @throws IllegalArgumentException if it is negative
     */
    public AcquireRequest withWaitTime(Duration waitTime) {
        if (waitTime.isNegative()) {
            throw new IllegalArgumentException("The wait time must not be negative: " + waitTime);
        }
        return with(copy -> copy.waitTime = waitTime);
    }

    /**
     * Sets the head start, a priority: the caller queues as if it had arrived this much earlier. It overtakes an earlier caller only if its
     * head start is longer than that caller's by at least the time between their arrivals. The head start applies in all queues of the
     * request. Has no effect on a caller that does not wait. Default: none. Upper limit: {@code semaphore.max-head-start} (1 hour), checked
     * by the acquire.
     *
     * @param headStart the head start, zero or positive; zero means none
     * @return the changed request
     * @throws IllegalArgumentException if it is negative
     */
    public AcquireRequest withHeadStart(Duration headStart) {
        if (headStart.isNegative()) {
            throw new IllegalArgumentException("The head start must not be negative: " + headStart);
        }
        return with(copy -> copy.headStart = headStart);
    }

    /**
     * Sets the share: for whom the caller waits, as {@code tenant} or {@code tenant/key}. Waiting tenants take turns and get equally many
     * permits; within a tenant, so do its keys. Callers without a share count as one more tenant. Weights ({@code
     * semaphore.semaphores.<name>.weights}, or a {@link ShareWeights} bean) give some more than others. Callers of one key are served by
     * arrival, less head start. Shares count grants, not the time that they are held. An acquire with a share reuses no permit ({@code
     * semaphore.semaphores.<name>.reuse}). Has no effect on a caller that does not wait. Default: none.
     *
     * <p>Put keys that one user can make up under one tenant: each new tenant or key gets a turn at once. The acquire throws
     * {@link IllegalArgumentException} if a semaphore of the request is not fair ({@code semaphore.semaphores.<name>.fair}).
     *
     * @param share the tenant, or the tenant, a {@code /} and the key: a valid key (see {@link SemaphoreName}) whose first {@code /}
     *     separates the two, neither of them empty
     * @return the changed request
     * @throws IllegalArgumentException if it is invalid
     */
    public AcquireRequest withShare(String share) {
        SemaphoreName.requireValidShare(share);
        return with(copy -> copy.share = share);
    }

    /**
     * Sets a listener that is told where the waiting caller stands. Default: none. Has no effect on a caller that does not wait.
     *
     * @param listener the listener
     * @return the changed request
     */
    public AcquireRequest withWaitListener(QueuePosition.Listener listener) {
        return with(copy -> copy.waitListener = Objects.requireNonNull(listener));
    }

    /**
     * Sets the owner, which operators see as the holder of the permits and which {@link OwnerLiveness} is asked about.
     * Default: this application instance ({@code semaphore.owner}).
     *
     * @param owner the owner, a valid key (see {@link SemaphoreName})
     * @return the changed request
     * @throws IllegalArgumentException if it is invalid
     */
    public AcquireRequest withOwner(String owner) {
        SemaphoreName.requireValidKey("owner", owner);
        return with(copy -> copy.owner = owner);
    }

    /**
     * Sets the label, which tells operators what holds the permits: the work, such as {@code BackupService.backUp}, or the id of a job.
     * It has no other effect. A repeated external id keeps the label of the first acquire. A request whose permits may be reused
     * ({@code semaphore.semaphores.<name>.reuse}) is stored without its label, because other callers hold the permits later. Default: none;
     * in {@code @WithPermits} the simple name of the class and the method.
     *
     * @param label the label, a valid key (see {@link SemaphoreName})
     * @return the changed request
     * @throws IllegalArgumentException if it is invalid
     */
    public AcquireRequest withLabel(String label) {
        SemaphoreName.requireValidKey("label", label);
        return with(copy -> copy.label = label);
    }

    /**
     * Sets the external id, which is the idempotency key of the acquire: repeating an acquire with the same external id
     * returns the same grant, never a second one. Default: a new random UUID for each acquire.
     *
     * @param externalId the external id, a valid key (see {@link SemaphoreName})
     * @return the changed request
     * @throws IllegalArgumentException if it is invalid
     */
    public AcquireRequest withExternalId(String externalId) {
        SemaphoreName.requireValidKey("external id", externalId);
        return with(copy -> copy.externalId = externalId);
    }

    /**
     * Sets whether {@code execute} may run its work under the grant of an earlier acquire with the same external id, as a
     * restarted job does. Default: false. Has no effect on {@code acquire}, {@code tryAcquire} and {@code acquireAsync}, which always
     * return such a grant.
     *
     * @param adopt whether to adopt such a grant
     * @return the changed request
     * @see RequestInProgressException
     */
    public AcquireRequest withAdopt(boolean adopt) {
        return with(copy -> copy.adopt = adopt);
    }

    /**
     * Sets whether the library renews the grant until it is released, for up to the {@linkplain #withMaxHold maximum hold}.
     * Default: true in {@code execute} and {@code @WithPermits}, false in {@code acquire}, {@code tryAcquire} and
     * {@code acquireAsync}. Has no effect on a grant without a time to live.
     *
     * @param keepAlive whether to renew it
     * @return the changed request
     */
    public AcquireRequest withKeepAlive(boolean keepAlive) {
        return with(copy -> copy.keepAlive = keepAlive);
    }

    /**
     * Sets whether a shutdown of this application instance releases the grant if the caller has not done so. Default: true. With
     * false, the permits stay held until their time to live has passed. Has no effect on a grant without a time to live, which outlives the
     * instance.
     *
     * @param releaseAtShutdown whether to release it
     * @return the changed request
     */
    public AcquireRequest withReleaseAtShutdown(boolean releaseAtShutdown) {
        return with(copy -> copy.releaseAtShutdown = releaseAtShutdown);
    }

    /** {@return the number of permits for each name, unmodifiable; 1 each if {@linkplain #isExclusive() exclusive}} */
    public Map<String, Integer> permits() {
        return settings.permits;
    }

    /** {@return whether the request asks for the whole capacity of every name} */
    public boolean isExclusive() {
        return settings.exclusive;
    }

    /** {@return the time to live; empty if none was set} */
    public Optional<Duration> ttl() {
        return Optional.ofNullable(settings.ttl);
    }

    /** {@return whether the grant is to last until it is released} */
    public boolean isWithoutTtl() {
        return settings.withoutTtl;
    }

    /** {@return the maximum hold; empty if none was set} */
    public Optional<Duration> maxHold() {
        return Optional.ofNullable(settings.maxHold);
    }

    /** {@return the wait time, zero to not wait at all; empty if none was set} */
    public Optional<Duration> waitTime() {
        return Optional.ofNullable(settings.waitTime);
    }

    /** {@return the head start; zero if none was set} */
    public Duration headStart() {
        return settings.headStart;
    }

    /** {@return the share; empty if none was set} */
    public Optional<String> share() {
        return Optional.ofNullable(settings.share);
    }

    /** {@return the listener that is told where the caller stands; empty if none was set} */
    public Optional<QueuePosition.Listener> waitListener() {
        return Optional.ofNullable(settings.waitListener);
    }

    /** {@return the owner; empty if none was set} */
    public Optional<String> owner() {
        return Optional.ofNullable(settings.owner);
    }

    /** {@return the label; empty if none was set} */
    public Optional<String> label() {
        return Optional.ofNullable(settings.label);
    }

    /** {@return the external id; empty if none was set} */
    public Optional<String> externalId() {
        return Optional.ofNullable(settings.externalId);
    }

    /** {@return whether {@code execute} may run under the grant of an earlier acquire} */
    public boolean isAdopt() {
        return settings.adopt;
    }

    /** {@return whether to keep the grant alive; empty if it was not set} */
    public Optional<Boolean> keepAlive() {
        return Optional.ofNullable(settings.keepAlive);
    }

    /** {@return whether a shutdown of this application instance releases the grant} */
    public boolean isReleaseAtShutdown() {
        return settings.releaseAtShutdown;
    }

    @Override
    public String toString() {
        return "AcquireRequest[%s%s%s]"
                .formatted(
                        settings.permits,
                        settings.exclusive ? ", exclusive" : "",
                        settings.externalId == null ? "" : ", externalId=" + settings.externalId);
    }

    private static void requireOne(String name, int count) {
        if (count != 1) {
            throw new IllegalArgumentException("An exclusive acquire takes the whole capacity of semaphore '" + name
                    + "'; a number of permits contradicts it: " + count);
        }
    }

    private AcquireRequest with(Consumer<Settings> change) {
        Settings copy = settings.copy();
        change.accept(copy);
        return new AcquireRequest(copy);
    }

    /** The values of one request. Not modified after the request has been constructed. */
    private static final class Settings implements Cloneable {

        /** Unmodifiable: copies share it. */
        Map<String, Integer> permits;

        boolean exclusive;

        @Nullable Duration ttl;

        boolean withoutTtl;

        @Nullable Duration maxHold;

        @Nullable Duration waitTime;

        Duration headStart = Duration.ZERO;

        @Nullable String share;

        QueuePosition.@Nullable Listener waitListener;

        @Nullable String owner;

        @Nullable String label;

        @Nullable String externalId;

        boolean adopt;

        @Nullable Boolean keepAlive;

        boolean releaseAtShutdown = true;

        Settings(Map<String, Integer> permits) {
            this.permits = permits;
        }

        Settings copy() {
            try {
                return (Settings) clone();
            } catch (CloneNotSupportedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }
}
