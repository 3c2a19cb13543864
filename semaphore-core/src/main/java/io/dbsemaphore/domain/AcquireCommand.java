package io.dbsemaphore.domain;

import io.dbsemaphore.line.Ask;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The validated request of one acquire, with all defaults applied. Immutable; the progress is in {@link AcquireState}.
 *
 * @param externalId the idempotency key
 * @param externalIdGiven whether the caller chose the external id, so that an earlier acquire may have used it
 * @param replayable whether a grant that is already held under this external id may be returned again
 * @param permits the number of permits per semaphore, sorted by name, each at least 1; 1 each if exclusive
 * @param exclusive whether the whole capacity is requested
 * @param ttl the time to live; null when held until released
 * @param owner the owner of the grant
 * @param label names what asks for the permits; null if not given
 * @param keeper supplies the current id of the JVM that will keep the grant alive; null if none will
 */
public record AcquireCommand(
        String externalId,
        boolean externalIdGiven,
        boolean replayable,
        Map<String, Integer> permits,
        boolean exclusive,
        @Nullable Duration ttl,
        String owner,
        @Nullable String label,
        @Nullable LongSupplier keeper) {

    public AcquireCommand {
        permits = Collections.unmodifiableSortedMap(new TreeMap<>(permits));
    }

    /** Returns the ask for each semaphore, sorted by name. */
    public Map<String, Ask> asks() {
        TreeMap<String, Ask> asks = new TreeMap<>();
        permits.forEach((name, count) -> asks.put(name, new Ask(count, exclusive)));
        return Collections.unmodifiableSortedMap(asks);
    }

    public boolean isKeptAlive() {
        return keeper != null;
    }

    /** The current id of the JVM that will keep the grant alive; null if none will. */
    public @Nullable Long instance() {
        return keeper == null ? null : keeper.getAsLong();
    }

    /**
     * A digest of the requested permits, without the time to live, the owner and the label. Acquires with the same external id must
     * have the same digest.
     */
    public String contentDigest() {
        StringBuilder content = new StringBuilder();
        permits.forEach((name, count) -> content.append(name)
                .append('\n')
                .append(exclusive ? "*" : count)
                .append('\n'));
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(content.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("Every Java platform has SHA-256", impossible);
        }
    }

    /** The requested permits, for messages. */
    public String describe() {
        return exclusive ? permits.keySet() + " exclusively" : permits.toString();
    }
}
