package io.dbsemaphore.domain;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One acquire as it is carried through its attempts. It remembers under which row ids it was tried, so that after a lost
 * answer a committed attempt of its own is told from a grant that somebody else made under the same external id.
 */
public final class AcquireCommand {

    private final String externalId;
    private final boolean externalIdGiven;
    private final boolean replayable;
    private final SortedMap<String, Integer> permits;
    private final boolean exclusive;
    private final @Nullable Duration ttl;
    private final String owner;
    private final @Nullable Long instance;
    private final Set<Long> attempts = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Claim> claim = new AtomicReference<>(Claim.OPEN);
    private volatile boolean willingToWait;
    private volatile boolean outcomeUnknown;
    private volatile Map<String, Long> demandAhead = Map.of();
    private final AtomicInteger refusals = new AtomicInteger();

    private enum Claim {
        OPEN,
        CLAIMED,
        WITHDRAWN
    }

    /**
     * Creates an order whose content has been validated.
     *
     * @param externalIdGiven whether the caller chose the id, so that an earlier acquire may have used it
     * @param replayable whether a grant that is held under this id already may be handed out again
     * @param permits the count per name, all at least 1
     * @param ttl null when held until released
     * @param instance the JVM that keeps it alive; null when nobody does
     */
    public AcquireCommand(
            String externalId,
            boolean externalIdGiven,
            boolean replayable,
            Map<String, Integer> permits,
            boolean exclusive,
            @Nullable Duration ttl,
            String owner,
            @Nullable Long instance) {
        this.externalId = externalId;
        this.externalIdGiven = externalIdGiven;
        this.replayable = replayable;
        this.permits = Collections.unmodifiableSortedMap(new TreeMap<>(permits));
        this.exclusive = exclusive;
        this.ttl = ttl;
        this.owner = owner;
        this.instance = instance;
    }

    /** The idempotency key. */
    public String externalId() {
        return externalId;
    }

    /** The count per name; 1 each where exclusive. */
    public SortedMap<String, Integer> permits() {
        return permits;
    }

    /** Whether the whole capacity is asked for. */
    public boolean isExclusive() {
        return exclusive;
    }

    /** The time to live; null when held until released. */
    public @Nullable Duration ttl() {
        return ttl;
    }

    /** Who is going to hold it. */
    public String owner() {
        return owner;
    }

    public @Nullable Long instance() {
        return instance;
    }

    public boolean isReplayable() {
        return replayable;
    }

    /** Whether a request with this id may be in the database. */
    public boolean mayExist() {
        return externalIdGiven || !attempts.isEmpty();
    }

    /** Whether a JVM is going to keep it alive. */
    public boolean isKeptAlive() {
        return instance != null;
    }

    /** How many permits those wait for who came earlier, by name: they are not free for this order. */
    public void setDemandAhead(Map<String, Long> demandAhead) {
        this.demandAhead = Map.copyOf(demandAhead);
    }

    /** How many permits of this semaphore those wait for who came earlier. */
    public long demandAhead(String name) {
        return demandAhead.getOrDefault(name, 0L);
    }

    /** A commit was sent for it, and nobody knows what became of that. */
    public void setOutcomeUnknown(boolean outcomeUnknown) {
        this.outcomeUnknown = outcomeUnknown;
    }

    /** Whether a commit was sent for it of which nobody knows what became. */
    public boolean isOutcomeUnknown() {
        return outcomeUnknown;
    }

    /** The caller goes on waiting when there is no room, so that who came later must not take what it waits for. */
    public void setWillingToWait(boolean willingToWait) {
        this.willingToWait = willingToWait;
    }

    /** Whether the caller goes on waiting. */
    public boolean isWillingToWait() {
        return willingToWait;
    }

    /** There was no room for it, after all that a transaction could do. */
    public void refused() {
        refusals.incrementAndGet();
    }

    /** How often there was no room for it. */
    public int refusals() {
        return refusals.get();
    }

    /** The caller has lost interest. True when nothing has been or will be written for it: its fate is sealed. */
    public boolean withdraw() {
        return claim.compareAndSet(Claim.OPEN, Claim.WITHDRAWN) || claim.get() == Claim.WITHDRAWN;
    }

    /** The next writes are for this order. False when the caller has lost interest. */
    public boolean claim() {
        return claim.compareAndSet(Claim.OPEN, Claim.CLAIMED) || claim.get() == Claim.CLAIMED;
    }

    /** Whether something may have been written for it in this attempt. */
    public boolean isClaimed() {
        return claim.get() == Claim.CLAIMED;
    }

    /** What was written is rolled back, or was nothing: the caller may lose interest again. */
    public void unclaim() {
        claim.compareAndSet(Claim.CLAIMED, Claim.OPEN);
    }

    public void remember(long requestId) {
        attempts.add(requestId);
    }

    public boolean isOwn(long requestId) {
        return attempts.contains(requestId);
    }

    /** What was asked for, without how long and by whom: an external id stands for one content. */
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

    /** What was asked for, for people. */
    public String describe() {
        return exclusive ? permits.keySet() + " exclusively" : permits.toString();
    }
}
