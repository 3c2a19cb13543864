package io.dbsemaphore.test;

import io.dbsemaphore.AcquireRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** A request that was granted, and its state. Guarded by the lock of {@link InMemoryPermits}. */
final class GrantedRequest {

    final String externalId;
    final String owner;
    final Optional<String> label;
    final SortedMap<String, Integer> permits;
    final Map<String, Long> tokens;
    final Instant acquiredAt;
    private final AcquireRequest request;
    private final Duration maxHold;

    /** Null if the grant is held until it is released. */
    private @Nullable Instant expiresAt;

    /** By how much a renewal prolongs the grant; null if it is not kept alive. */
    private @Nullable Duration renewal;

    private boolean ended;

    /** Whether its holder has released it within an open transaction that has checked it. */
    boolean isReleasedLater;

    GrantedRequest(
            Caller caller,
            String owner,
            SortedMap<String, Integer> permits,
            Map<String, Long> tokens,
            Instant now,
            @Nullable Duration ttl,
            Duration maxHold) {
        this.externalId = caller.externalId();
        this.owner = owner;
        this.label = caller.request().label();
        this.permits = permits;
        this.tokens = tokens;
        this.acquiredAt = now;
        this.request = caller.request();
        this.maxHold = maxHold;
        this.expiresAt = ttl == null ? null : now.plus(ttl);
        this.renewal = caller.wantsKeepAlive() ? ttl : null;
    }

    boolean isFor(AcquireRequest other) {
        return request.permits().equals(other.permits()) && isExclusive() == other.isExclusive();
    }

    boolean isExclusive() {
        return request.isExclusive();
    }

    /** When the grant expires. While it is kept alive, it is renewed continuously, up to its maximum hold. */
    Optional<Instant> expiresAt(Instant now) {
        Instant expiry = expiresAt;
        if (expiry != null && renewal != null && !ended) {
            Instant last = acquiredAt.plus(maxHold);
            expiry = later(expiry, now.plus(renewal));
            return Optional.of(expiry.isBefore(last) ? expiry : last);
        }
        return Optional.ofNullable(expiry);
    }

    boolean isAlive(Instant now) {
        return !ended && expiresAt(now).filter(expiry -> !now.isBefore(expiry)).isEmpty();
    }

    /** Prolongs the grant for a repeated acquire. */
    void replay(Instant now, @Nullable Duration ttl, boolean isKeptAlive) {
        expiresAt = expiresAt == null || ttl == null ? null : later(expiresAt, now.plus(ttl));
        renewal = isKeptAlive ? ttl : renewal;
    }

    void renew(Instant now, Duration ttl) {
        expiresAt = now.plus(ttl);
    }

    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }
}
