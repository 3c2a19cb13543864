package io.dbsemaphore;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of one {@link AcquireRequest}. Not modified after the request has been constructed. */
final class AcquireSettings {

    /** Unmodifiable: copies share it. */
    Map<String, Integer> permits;

    boolean exclusive;

    @Nullable Duration ttl;

    boolean withoutTtl;

    @Nullable Duration maxHold;

    Duration waitTime = Duration.ZERO;

    @Nullable String owner;

    @Nullable String externalId;

    boolean adopt;

    @Nullable Boolean keepAlive;

    boolean releaseAtShutdown = true;

    AcquireSettings(Map<String, Integer> permits) {
        this.permits = permits;
    }

    AcquireSettings(AcquireSettings other) {
        permits = other.permits;
        exclusive = other.exclusive;
        ttl = other.ttl;
        withoutTtl = other.withoutTtl;
        maxHold = other.maxHold;
        waitTime = other.waitTime;
        owner = other.owner;
        externalId = other.externalId;
        adopt = other.adopt;
        keepAlive = other.keepAlive;
        releaseAtShutdown = other.releaseAtShutdown;
    }
}
