package io.dbsemaphore;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What to acquire, for how long, and how long to wait for it. Immutable, and without an external id reusable: it may be
 * a constant that any number of threads acquire with.
 *
 * <p>The methods validate what can be judged without configuration; bounds that are configured (the longest time to
 * live, the number of names) are checked by the acquire, before it touches the database. All of them throw
 * {@link IllegalArgumentException}.
 */
public final class AcquireRequest {

    /** The shortest time to live; below it a network round trip would be a gamble. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    private final Settings settings;

    private AcquireRequest(Settings settings) {
        this.settings = settings;
    }

    /**
     * One permit of each semaphore. A name that is given twice asks for two permits of it.
     *
     * @throws IllegalArgumentException without a name, or when one is invalid (see {@link SemaphoreName})
     */
    public static AcquireRequest of(String... names) {
        if (names.length == 0) {
            throw new IllegalArgumentException("An acquire needs the name of at least one semaphore");
        }
        Settings settings = new Settings();
        for (String name : names) {
            settings.permits.merge(SemaphoreName.requireValid(name), 1, Math::addExact);
        }
        return new AcquireRequest(settings);
    }

    /** Asks for {@code count} permits of this semaphore, instead of what was asked of it before. */
    public AcquireRequest withPermits(String name, int count) {
        SemaphoreName.requireValid(name);
        if (count < 1) {
            throw new IllegalArgumentException(
                    "The number of permits of semaphore '%s' must be at least 1: %d".formatted(name, count));
        }
        if (settings.exclusive && count != 1) {
            throw new IllegalArgumentException("An exclusive acquire takes the whole capacity of semaphore '" + name
                    + "'; a number of permits contradicts it: " + count);
        }
        return with(copy -> copy.permits.put(name, count));
    }

    /**
     * Asks for the whole capacity of every name, whatever it is at that moment: granted when nobody holds a permit, and
     * nobody else is granted one while it is held, even if the capacity grows. The write side of a read/write lock.
     */
    public AcquireRequest exclusive() {
        settings.permits.forEach((name, count) -> {
            if (count != 1) {
                throw new IllegalArgumentException("An exclusive acquire takes the whole capacity of semaphore '" + name
                        + "'; a number of permits contradicts it: " + count);
            }
        });
        return with(copy -> copy.exclusive = true);
    }

    /** How long the grant lasts unless renewed. Default: {@code semaphore.default-ttl}. */
    public AcquireRequest withTtl(Duration ttl) {
        if (ttl.compareTo(MIN_TTL) < 0) {
            throw new IllegalArgumentException("The TTL must be at least %s: %s".formatted(MIN_TTL, ttl));
        }
        return with(copy -> {
            copy.ttl = ttl;
            copy.withoutTtl = false;
        });
    }

    /** Held until released: registrations, slots that outlive processes. A crashed holder keeps it. */
    public AcquireRequest withoutTtl() {
        return with(copy -> {
            copy.ttl = null;
            copy.withoutTtl = true;
        });
    }

    /** Where the keep-alive ends; the time to live does the rest. Default: {@code semaphore.max-hold}. */
    public AcquireRequest withMaxHold(Duration limit) {
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("The maximum hold must be positive: " + limit);
        }
        return with(copy -> copy.maxHold = limit);
    }

    /** How long to wait for permits. Default: zero, fail at once. */
    public AcquireRequest withWaitTime(Duration waitTime) {
        if (waitTime.isNegative()) {
            throw new IllegalArgumentException("The wait time must not be negative: " + waitTime);
        }
        return with(copy -> copy.waitTime = waitTime);
    }

    /** Who operators see holding the permits. Default: this application instance. */
    public AcquireRequest withOwner(String owner) {
        SemaphoreName.requireValidKey("owner", owner);
        return with(copy -> copy.owner = owner);
    }

    /**
     * The idempotency key: repeating an acquire with it returns the same grant, never a second one. Default: a fresh
     * UUID for each acquire.
     */
    public AcquireRequest withExternalId(String externalId) {
        SemaphoreName.requireValidKey("external id", externalId);
        return with(copy -> copy.externalId = externalId);
    }

    /**
     * Whether {@code execute} may run on a grant that an earlier acquire with this external id made, as a restarted job
     * wants. Default: false.
     */
    public AcquireRequest withAdopt(boolean adopt) {
        return with(copy -> copy.adopt = adopt);
    }

    /**
     * Whether the library renews the grant until it is released. Default: true in {@code execute} and
     * {@code @WithPermits}, false in {@code acquire}.
     */
    public AcquireRequest withKeepAlive(boolean keepAlive) {
        return with(copy -> copy.keepAlive = keepAlive);
    }

    /** The number of permits per name, unmodifiable; 1 each when {@linkplain #isExclusive() exclusive}. */
    public Map<String, Integer> permits() {
        return Collections.unmodifiableMap(settings.permits);
    }

    /** Whether the whole capacity of every name is asked for. */
    public boolean isExclusive() {
        return settings.exclusive;
    }

    /** The time to live, where one was given. */
    public Optional<Duration> ttl() {
        return Optional.ofNullable(settings.ttl);
    }

    /** Whether the grant is to last until released. */
    public boolean isWithoutTtl() {
        return settings.withoutTtl;
    }

    /** The maximum hold, where one was given. */
    public Optional<Duration> maxHold() {
        return Optional.ofNullable(settings.maxHold);
    }

    /** How long to wait for permits. */
    public Duration waitTime() {
        return settings.waitTime;
    }

    /** The owner, where one was given. */
    public Optional<String> owner() {
        return Optional.ofNullable(settings.owner);
    }

    /** The external id, where one was given. */
    public Optional<String> externalId() {
        return Optional.ofNullable(settings.externalId);
    }

    /** Whether {@code execute} may run on an earlier acquire's grant. */
    public boolean isAdopt() {
        return settings.adopt;
    }

    /** Whether the grant is to be kept alive, where that was said. */
    public Optional<Boolean> keepAlive() {
        return Optional.ofNullable(settings.keepAlive);
    }

    @Override
    public String toString() {
        return "AcquireRequest[%s%s%s]"
                .formatted(
                        settings.permits,
                        settings.exclusive ? ", exclusive" : "",
                        settings.externalId == null ? "" : ", externalId=" + settings.externalId);
    }

    private AcquireRequest with(Consumer<Settings> change) {
        Settings copy = new Settings(settings);
        change.accept(copy);
        return new AcquireRequest(copy);
    }

    /** The values of one request; never changed once the request has been constructed. */
    private static final class Settings {

        final Map<String, Integer> permits = new LinkedHashMap<>();
        boolean exclusive;

        @Nullable Duration ttl;

        boolean withoutTtl;

        @Nullable Duration maxHold;

        Duration waitTime = Duration.ZERO;

        @Nullable String owner;

        @Nullable String externalId;

        boolean adopt;

        @Nullable Boolean keepAlive;

        Settings() {}

        Settings(Settings other) {
            permits.putAll(other.permits);
            exclusive = other.exclusive;
            ttl = other.ttl;
            withoutTtl = other.withoutTtl;
            maxHold = other.maxHold;
            waitTime = other.waitTime;
            owner = other.owner;
            externalId = other.externalId;
            adopt = other.adopt;
            keepAlive = other.keepAlive;
        }
    }
}
