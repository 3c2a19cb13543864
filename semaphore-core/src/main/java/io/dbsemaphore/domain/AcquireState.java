package io.dbsemaphore.domain;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The state of one acquire across all its attempts, shared by the queue and the transactions. A transaction reads it,
 * {@linkplain #claim claims} it and {@linkplain #addRequestId adds} the ids of the rows that it inserts. The queue sets
 * everything else, most of it once for each batch that has ended. A transaction that decides twice therefore counts nothing twice.
 * Thread-safe; two acquires of equal commands have distinct states. The queue extends it by what the transactions need not know.
 */
public class AcquireState {

    private static final long UNKNOWN = Long.MAX_VALUE;

    private final AcquireCommand command;
    private final Set<Long> requestIds = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Claim> claim = new AtomicReference<>(Claim.OPEN);
    private volatile boolean willingToWait;
    private volatile long arrivedAt = UNKNOWN;
    private volatile Place place = Place.NONE;
    private volatile boolean outcomeUnknown;
    private volatile boolean writeBlocked;
    private volatile @Nullable String blockedBy;
    private volatile Map<String, Demand> demandAhead = Map.of();
    private volatile @Nullable ReuseTerms reuseTerms;
    private volatile int tokens = 1;

    private enum Claim {
        OPEN,
        CLAIMED,
        WITHDRAWN
    }

    public AcquireState(AcquireCommand command) {
        this.command = command;
    }

    /** Continues where an earlier acquire of the same call has ended: with its place, and with the same terms. */
    protected final void continueFrom(AcquireState earlier) {
        requestIds.addAll(earlier.requestIds);
        place = earlier.place;
        reuseTerms = earlier.reuseTerms;
        tokens = earlier.tokens;
    }

    public AcquireCommand command() {
        return command;
    }

    /** Whether a request with this external id may be in the database. */
    public boolean mayExist() {
        return command.externalIdGiven() || !requestIds.isEmpty();
    }

    /** Records the id of a request row that an attempt inserts, before its transaction commits. */
    public void addRequestId(long requestId) {
        requestIds.add(requestId);
    }

    /** Whether an attempt of this acquire inserted the row, and not another acquire with the same external id. */
    public boolean isOwnRequest(long requestId) {
        return requestIds.contains(requestId);
    }

    public void setDemandAhead(Map<String, Demand> demandAhead) {
        this.demandAhead = Map.copyOf(demandAhead);
    }

    /** The number of permits of the semaphore that callers of this instance ahead of this acquire wait for. */
    public Demand demandAhead(String name) {
        return demandAhead.getOrDefault(name, Demand.NONE);
    }

    /**
     * Asks for permits that are reused: they may come from a caller of this JVM that releases them, or are granted with several
     * fencing tokens.
     */
    public void reuse(ReuseTerms terms, int reservedTokens) {
        reuseTerms = terms;
        tokens = reservedTokens;
    }

    /** The terms that a released permit must match to be handed to the acquire; null if none may be handed to it. */
    public @Nullable ReuseTerms reuseTerms() {
        return reuseTerms;
    }

    /** The number of fencing tokens to reserve for the grant. */
    public int tokens() {
        return tokens;
    }

    public void setOutcomeUnknown(boolean outcomeUnknown) {
        this.outcomeUnknown = outcomeUnknown;
    }

    /** Whether an attempt may have committed a grant for this acquire: its commit was not answered. */
    public boolean isOutcomeUnknown() {
        return outcomeUnknown;
    }

    /** Sets whether the last attempt has locked the rows of the semaphores, and has waited in vain to write its grant. */
    public void setWriteBlocked(boolean blocked) {
        writeBlocked = blocked;
    }

    /** Whether another transaction may have inserted the external id, and has neither committed nor ended. */
    public boolean isWriteBlocked() {
        return writeBlocked;
    }

    /** Sets the semaphore for which the last attempt was {@linkplain GrantOutcome.Postponed postponed}; null if it was not. */
    public void setBlockedBy(@Nullable String name) {
        blockedBy = name;
    }

    /** The semaphore whose row another transaction had locked, or deleted, at the last attempt; null if there was none. */
    public @Nullable String blockedBy() {
        return blockedBy;
    }

    /** Sets whether the caller goes on waiting when it is refused, so that later acquires must not overtake it. */
    public void setWillingToWait(boolean willingToWait) {
        this.willingToWait = willingToWait;
    }

    public boolean isWillingToWait() {
        return willingToWait;
    }

    /** Sets when the caller came, in microseconds since 1970 by the database's clock. */
    public void setArrivedAt(long micros) {
        arrivedAt = micros;
    }

    /** When the caller came; later than any other time if that {@linkplain #isArrivalKnown is not known}. */
    public long arrivedAt() {
        return arrivedAt;
    }

    /** Whether there was a recent answer of the database when the caller came, by which its clock is known. */
    public boolean isArrivalKnown() {
        return arrivedAt != UNKNOWN;
    }

    /** Sets the place when the acquire is first refused, or joins the queue unasked; later calls have no effect. */
    public void setPlace(Place refused) {
        place = wasRefused() ? place : refused;
    }

    /** The place of the acquire in the order of all instances' callers; {@link Place#NONE} if it does not wait yet. */
    public Place place() {
        return place;
    }

    /** Whether the acquire has a place: it was refused, or joined the queue unasked, so that its caller waits or has waited. */
    public boolean wasRefused() {
        return !place.equals(Place.NONE);
    }

    /** This acquire as one that waits for permits of this semaphore of it. */
    public Waiter toWaiter(String name) {
        int count = Objects.requireNonNull(command.permits().get(name));
        return new Waiter(place, count, command.exclusive(), command.isOfSeveral());
    }

    /**
     * Withdraws the acquire, unless a transaction has claimed it. True when no attempt writes for it from now on; an earlier one may have
     * written, if the {@linkplain #isOutcomeUnknown outcome is unknown}.
     */
    public boolean withdraw() {
        return claim.compareAndSet(Claim.OPEN, Claim.WITHDRAWN) || claim.get() == Claim.WITHDRAWN;
    }

    /** Claims the acquire for a transaction that is about to write for it. False when it has been withdrawn. */
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
