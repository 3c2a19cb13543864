package io.dbsemaphore;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of one {@link AcquireRequest}. Not modified after the request has been constructed. */
final class AcquireSettings {

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

    boolean releaseAtShutdown = true;

    AcquireSettings() {}

    AcquireSettings(AcquireSettings other) {
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
        releaseAtShutdown = other.releaseAtShutdown;
    }
}
