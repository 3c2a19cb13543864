package io.dbsemaphore.domain;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A held grant as stored in the database.
 *
 * @param requestId the id of its request
 * @param label names what asked for the permits; null if its request has no label
 * @param permits its permits, in the order of their ids
 * @param ttl its time to live; null if it is held until released
 * @param acquiredAt when it was acquired, by the database's clock
 * @param expiresAt when it expires, by the database's clock; null if it is held until released
 * @param readAt the database's clock when this was read or written
 */
public record StoredGrant(
        long requestId,
        String externalId,
        String owner,
        @Nullable String label,
        List<StoredPermit> permits,
        @Nullable Duration ttl,
        Instant acquiredAt,
        @Nullable Instant expiresAt,
        Instant readAt) {

    /** The permits that a grant holds of one semaphore. */
    public record StoredPermit(long id, long semaphoreId, String name, int count, long token) {}

    public StoredGrant {
        permits = List.copyOf(permits);
    }

    /** This grant as if it had been renewed and read that much later. */
    public StoredGrant extendedBy(Duration time) {
        return expiresAt == null
                ? this
                : new StoredGrant(
                        requestId,
                        externalId,
                        owner,
                        label,
                        permits,
                        ttl,
                        acquiredAt,
                        expiresAt.plus(time),
                        readAt.plus(time));
    }

    /** The number of permits, by semaphore, ordered by name; unmodifiable. */
    public Map<String, Integer> counts() {
        SortedMap<String, Integer> counts = new TreeMap<>();
        permits.forEach(permit -> counts.put(permit.name(), permit.count()));
        return Collections.unmodifiableSortedMap(counts);
    }

    /**
     * The remaining time to live when the grant was read; negative if it had expired, empty if it is held until released.
     */
    public Optional<Duration> remaining() {
        return expiresAt == null ? Optional.empty() : Optional.of(Duration.between(readAt, expiresAt));
    }

    /** Converts an instant to a timestamp as the tables store it, in UTC without a zone. */
    public static LocalDateTime utc(Instant instant) {
        return LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
    }

    /** Converts a timestamp of the tables, which is in UTC without a zone, to an instant. */
    public static Instant instant(LocalDateTime utc) {
        return utc.toInstant(ZoneOffset.UTC);
    }
}
