package io.dbsemaphore.domain;

import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
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
 * everything else, mostly when a batch ends, so that a transaction that decides twice counts nothing twice. Thread-safe. Two
 * acquires of equal commands have distinct states.
 */
public class AcquireState {

    private final AcquireCommand command;
    private final Map<String, Ask> charges;
    private final Set<Long> requestIds = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Claim> claim = new AtomicReference<>(Claim.OPEN);
    private volatile boolean willingToWait;
    private volatile Arrival arrival;
    private volatile Place place;
    private volatile boolean waited;
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

    /** Begins an acquire whose caller comes now. */
    public AcquireState(AcquireCommand command) {
        this(command, Arrival.unknown(System.nanoTime()));
    }

    public AcquireState(AcquireCommand command, Arrival arrival) {
        this.command = command;
        this.arrival = arrival;
        place = Places.ofNewcomer(arrival);
        charges = command.asks();
    }

    /** Takes over the place and the terms of an earlier acquire of the same call. */
    protected final void continueFrom(AcquireState earlier) {
        requestIds.addAll(earlier.requestIds);
        place = earlier.place;
        waited = earlier.waited;
        reuseTerms = earlier.reuseTerms;
        tokens = earlier.tokens;
    }

    public AcquireCommand command() {
        return command;
    }

    /**
     * The semaphores whose permits are locked, counted and waited for, each with how many, sorted by name. Today they are those that the
     * command {@linkplain AcquireCommand#asks asks for}.
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

    /** Whether an attempt of this acquire inserted the row, and not another acquire with the same external id. */
    public boolean isOwnRequest(long requestId) {
        return requestIds.contains(requestId);
    }

    public void setDemandAhead(Map<String, Demand> demandAhead) {
        this.demandAhead = Map.copyOf(demandAhead);
    }

    /** The number of permits of a semaphore that callers of this instance who are ahead of this acquire wait for. */
    public Demand demandAhead(String name) {
        return demandAhead.getOrDefault(name, Demand.NONE);
    }

    /**
     * Asks for permits that are reused: another caller of this JVM may hand them over, and a new grant has several fencing tokens.
     */
    public void reuse(ReuseTerms terms, int reservedTokens) {
        reuseTerms = terms;
        tokens = reservedTokens;
    }

    /** The terms that a released permit must match to be handed to the acquire; null if none may be handed to it. */
    public @Nullable ReuseTerms reuseTerms() {
        return reuseTerms;
    }

    /** The label of the request in the database; null for one whose permits other callers of this JVM may use after this one. */
    public @Nullable String label() {
        return reuseTerms == null ? command.label() : null;
    }

    /** The number of fencing tokens to reserve for the grant. */
    public int tokens() {
        return tokens;
    }

    public void setOutcomeUnknown(boolean outcomeUnknown) {
        this.outcomeUnknown = outcomeUnknown;
    }

    /** Whether an attempt may have committed a grant, since its commit was not answered. */
    public boolean isOutcomeUnknown() {
        return outcomeUnknown;
    }

    /** Sets whether the last attempt locked the rows of the semaphores, but could not write its grant. */
    public void setWriteBlocked(boolean blocked) {
        writeBlocked = blocked;
    }

    /** Whether an open transaction may have inserted the external id. */
    public boolean isWriteBlocked() {
        return writeBlocked;
    }

    /** Sets the semaphore for which the last attempt was {@linkplain GrantOutcome.Postponed postponed}; null if it was not. */
    public void setBlockedBy(@Nullable String name) {
        blockedBy = name;
    }

    /** The semaphore for which the last attempt was {@linkplain GrantOutcome.Postponed postponed}; null if it was not. */
    public @Nullable String blockedBy() {
        return blockedBy;
    }

    /** Sets whether the caller goes on waiting if it is refused. Later acquires must not overtake a caller that does. */
    public void setWillingToWait(boolean willingToWait) {
        this.willingToWait = willingToWait;
    }

    public boolean isWillingToWait() {
        return willingToWait;
    }

    /** Sets when the caller came. It keeps its place if it has waited. */
    public void setArrival(Arrival arrival) {
        this.arrival = arrival;
        place = waited ? place : Places.ofNewcomer(arrival);
    }

    public Arrival arrival() {
        return arrival;
    }

    /** Gives the caller its place when it is first refused. Later calls have no effect. */
    public void startWaiting(Places places) {
        startWaiting(placeIfRefused(places));
    }

    /** Gives the caller its place when it joins the line without having been tried, unless it has one. */
    public void startWaiting() {
        startWaiting(place);
    }

    private void startWaiting(Place itsPlace) {
        place = itsPlace;
        waited = true;
    }

    /** The place that the caller has in the line if it is refused. */
    Place placeIfRefused(Places places) {
        return waited ? place : places.of(arrival);
    }

    /** The place of the acquire in the order of all instances' callers; that of a caller which has not waited is not final. */
    public Place place() {
        return place;
    }

    /** Whether the caller waits in the line, or has waited. */
    public boolean hasWaited() {
        return waited;
    }

    /** The place from which it is decided whether the caller may go: behind all who wait, unless it waits itself. */
    public Place standsAt() {
        return waited ? place : Place.LAST;
    }

    /** Whether permits of several semaphores are counted for it. */
    public boolean isOfSeveral() {
        return charges.size() > 1;
    }

    Waiter toWaiter(String name, Place atPlace) {
        return new Waiter(atPlace, Objects.requireNonNull(charges.get(name)), isOfSeveral());
    }

    /** Describes this acquire as a caller that waits for one of its semaphores. */
    public Waiter toWaiter(String name) {
        return toWaiter(name, place);
    }

    /**
     * Withdraws the acquire, unless a transaction has claimed it. True if no attempt writes for it from now on. An earlier attempt may
     * have written, if the {@linkplain #isOutcomeUnknown outcome is unknown}.
     */
    public boolean withdraw() {
        return claim.compareAndSet(Claim.OPEN, Claim.WITHDRAWN) || claim.get() == Claim.WITHDRAWN;
    }

    /** Claims the acquire for a transaction that is about to write for it. False if it has been withdrawn. */
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
