package io.dbsemaphore.domain;

import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Position;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.Waiter;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The state of one acquire across all its attempts, shared by the queue and the transactions. A transaction reads it,
 * {@linkplain #claim claims} it and {@linkplain #addRequestId adds} the ids of the rows that it inserts. The queue sets
 * everything else, mostly when a batch ends, so that nothing is counted twice if a transaction decides twice. Thread-safe. Two acquires of
 * equal commands have distinct states.
 */
public class AcquireState {

    private final AcquireCommand command;
    private final Map<String, Ask> charges;
    private final Set<Long> requestIds = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Claim> claim = new AtomicReference<>(Claim.OPEN);
    private volatile boolean willingToWait;
    private volatile Position position;
    private volatile Attempt attempt = Attempt.NONE;
    private volatile Map<String, Demand> demandAhead = Map.of();
    private volatile Map<String, ShareTags.Known> knownTags = Map.of();
    private final Share share;
    private volatile Reuse reuse = new Reuse(null, 1);

    /** How its permits are reused, if at all. */
    private record Reuse(@Nullable ReuseTerms terms, int tokens) {}

    private enum Claim {
        OPEN,
        CLAIMED,
        WITHDRAWN
    }

    /** Begins an acquire whose caller comes now. */
    public AcquireState(AcquireCommand command) {
        this(command, Arrival.unknown(System.nanoTime()), 0, Share.NONE);
    }

    /**
     * Begins an acquire.
     *
     * @param headStart in microseconds
     */
    public AcquireState(AcquireCommand command, Arrival arrival, long headStart, Share share) {
        this.command = command;
        this.share = share;
        position = Position.of(arrival, headStart);
        charges = command.asks();
    }

    /** Takes over the place and the terms of an earlier acquire of the same call. */
    protected final void continueFrom(AcquireState earlier) {
        requestIds.addAll(earlier.requestIds);
        position = earlier.position;
        reuse = earlier.reuse;
    }

    public AcquireCommand command() {
        return command;
    }

    /**
     * By semaphore, sorted by name, the number of permits that are locked, counted and waited for. Today, this is what the command
     * {@linkplain AcquireCommand#asks asks for}.
     */
    public Map<String, Ask> charges() {
        return charges;
    }

    /** Whether a request with this external id may be in the database. */
    public boolean mayExist() {
        return command.externalIdGiven() || !requestIds.isEmpty();
    }

    /** Records the id of a request row that an attempt inserts, before its transaction commits. */
    public void addRequestId(long requestId) {
        requestIds.add(requestId);
    }

    /** Forgets the id of a request row that has certainly not been inserted. */
    public void removeRequestId(long requestId) {
        requestIds.remove(requestId);
    }

    /** The ids of the request rows that attempts of this acquire have inserted, or tried to insert. */
    public Set<Long> requestIds() {
        return Set.copyOf(requestIds);
    }

    /** Whether an attempt of this acquire, not another acquire with the same external id, inserted the row. */
    public boolean isOwnRequest(long requestId) {
        return requestIds.contains(requestId);
    }

    public void setDemandAhead(Map<String, Demand> demandAhead) {
        this.demandAhead = Map.copyOf(demandAhead);
    }

    /** The permits of a semaphore that callers of this instance ahead of this acquire wait for. */
    public Demand demandAhead(String name) {
        return demandAhead.getOrDefault(name, Demand.NONE);
    }

    /** Sets, by semaphore, what this instance knows of the tags of the caller's share, if its line has more keys than it records. */
    public void setKnownTags(Map<String, ShareTags.Known> known) {
        knownTags = Map.copyOf(known);
    }

    /** What this instance knew of the tags of the caller's share when the acquire was chosen for a batch; null if nothing. */
    ShareTags.@Nullable Known knownTags(String name) {
        return knownTags.get(name);
    }

    public Share share() {
        return share;
    }

    /**
     * Asks for permits that are reused: another caller of this JVM may hand them over, and a new grant has several fencing tokens.
     */
    public void reuse(ReuseTerms terms, int reservedTokens) {
        reuse = new Reuse(terms, reservedTokens);
    }

    /** The terms that a released permit must match to be handed to the acquire; null if none may be handed to it. */
    public @Nullable ReuseTerms reuseTerms() {
        return reuse.terms();
    }

    /** The label of the request in the database; null if other callers of this JVM may use its permits later. */
    public @Nullable String label() {
        return reuse.terms() == null ? command.label() : null;
    }

    /** The number of fencing tokens to reserve for the grant. */
    public int tokens() {
        return reuse.tokens();
    }

    /** Records what an attempt has found out. */
    public void found(Attempt attempt) {
        this.attempt = attempt;
    }

    /** What the attempts have found out so far. */
    public Attempt attempt() {
        return attempt;
    }

    /** Whether an attempt may have committed a grant: its commit was not answered. */
    public boolean isOutcomeUnknown() {
        return attempt.isOutcomeUnknown();
    }

    /** Sets whether the caller goes on waiting if it is refused. Later acquires must not overtake a caller that does. */
    public void setWillingToWait(boolean willingToWait) {
        this.willingToWait = willingToWait;
    }

    public boolean isWillingToWait() {
        return willingToWait;
    }

    /** Sets where the caller stands. */
    public void moveTo(Position position) {
        this.position = position;
    }

    public Position position() {
        return position;
    }

    public Place place() {
        return position.place();
    }

    /** Whether the caller waits in the line, or has waited. */
    public boolean hasWaited() {
        return position.hasWaited();
    }

    /** Whether permits of several semaphores are counted for it. */
    public boolean isOfSeveral() {
        return charges.size() > 1;
    }

    Waiter toWaiter(String name, Place atPlace) {
        return new Waiter(
                atPlace, Objects.requireNonNull(charges.get(name)), isOfSeveral(), position.headStart(), share);
    }

    /** Describes this acquire as a caller that waits for one of its semaphores. */
    public Waiter toWaiter(String name) {
        return toWaiter(name, place());
    }

    /**
     * Withdraws the acquire, unless a transaction has claimed it. Returns true if no attempt writes for it from now on. An earlier attempt
     * may have written, if the {@linkplain #isOutcomeUnknown outcome is unknown}.
     */
    public boolean withdraw() {
        return claim.compareAndSet(Claim.OPEN, Claim.WITHDRAWN) || claim.get() == Claim.WITHDRAWN;
    }

    /** Claims the acquire for a transaction that is about to write for it. Returns false if it has been withdrawn. */
    public boolean claim() {
        return claim.compareAndSet(Claim.OPEN, Claim.CLAIMED) || claim.get() == Claim.CLAIMED;
    }

    /** Whether a transaction may have written something for the acquire. */
    public boolean isClaimed() {
        return claim.get() == Claim.CLAIMED;
    }

    /** Ends the claim of an attempt that has written nothing, or was rolled back: the acquire can be withdrawn again. */
    public void unclaim() {
        claim.compareAndSet(Claim.CLAIMED, Claim.OPEN);
    }
}
