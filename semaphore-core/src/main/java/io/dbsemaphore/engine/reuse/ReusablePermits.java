package io.dbsemaphore.engine.reuse;

import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The permits of this JVM that are reused: the idle ones, and those in use. To the database all of them are held.
 *
 * <p>This is escrow (O'Neil, <a href="https://doi.org/10.1145/7239.7265">The Escrow Transactional Method</a>, 1986) with leases: a
 * JVM decides by itself about what was set aside for it, for a limited time.
 */
public final class ReusablePermits {

    private static final long IF_NONE_IS_REUSABLE = Duration.ofSeconds(1).toNanos();

    private final PerSemaphore<Duration> times;
    private final boolean disabled;
    private final ConcurrentMap<String, ReusedSemaphore> semaphores = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, ReusablePermit> byExternalId = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * Creates it without permits.
     *
     * @param times how long permits of a semaphore may be reused; zero if they are not
     */
    public ReusablePermits(PerSemaphore<Duration> times) {
        this.times = times;
        this.disabled = times.values().stream().allMatch(Duration::isZero);
    }

    /** Whether no permit of any semaphore is to be reused. */
    public boolean isDisabled() {
        return disabled;
    }

    /** How long permits of the semaphore may be reused; zero if they are not. */
    public Duration reuseOf(String name) {
        return times.of(name);
    }

    /** The number of fencing tokens to reserve for the next grant. */
    public int tokensFor(String name) {
        ReusedSemaphore semaphore = semaphores.get(name);
        return semaphore == null ? ReusedSemaphore.FIRST_TOKENS : semaphore.tokens();
    }

    public ReusablePermit add(HeldGrant state, ReuseTerms terms, int tokens, long grantedAt) {
        Duration reuse = times.of(terms.name());
        ReusablePermit permit = new ReusablePermit(state, terms, tokens, grantedAt, reuse);
        byExternalId.put(state.grant().externalId(), permit);
        semaphores.compute(
                terms.name(), (name, known) -> (known == null ? new ReusedSemaphore(reuse) : known).granted(permit));
        return permit;
    }

    /** Removes a permit that goes back, or is lost. */
    public void remove(ReusablePermit permit) {
        if (byExternalId.remove(permit.state().grant().externalId(), permit)) {
            semaphores.computeIfPresent(permit.terms().name(), (name, semaphore) -> {
                semaphore.gone(permit);
                return semaphore;
            });
        }
    }

    /**
     * The permit that has, or had, a use with this external id; null if none of this JVM has.
     *
     * @param externalId of the request, which is that of the first use, or of a later use
     */
    public @Nullable ReusablePermit find(String externalId) {
        ReusablePermit ofRequest = byExternalId.get(externalId);
        return ofRequest != null ? ofRequest : byExternalId.get(ReusedGrant.requestOf(externalId));
    }

    /** The use with this external id; empty if it has ended. */
    public Optional<ReusedGrant> findUse(String externalId) {
        ReusablePermit permit = find(externalId);
        return permit != null
                        && permit.user() instanceof ReusedGrant use
                        && use.externalId().equals(externalId)
                ? Optional.of(use)
                : Optional.empty();
    }

    /** Whether there is, or was until recently, a permit of this semaphore. */
    public boolean isKnown(String name) {
        return semaphores.containsKey(name);
    }

    /** Whether the next use of this permit may begin. */
    public boolean isReusable(ReusablePermit permit) {
        ReusedSemaphore semaphore = semaphores.get(permit.terms().name());
        return semaphore != null && !closed && permit.isReusable(System.nanoTime());
    }

    /** Adds a permit to the idle ones. False if it must go back. */
    public boolean offer(ReusablePermit permit) {
        ReusedSemaphore semaphore = semaphores.get(permit.terms().name());
        permit.setIdleSince(System.nanoTime());
        return semaphore != null && !semaphore.isAwaitedElsewhere() && semaphore.offer(permit);
    }

    /** Removes an idle permit that an acquire with these terms can use; null if there is none. */
    public @Nullable ReusablePermit poll(ReuseTerms terms) {
        ReusedSemaphore semaphore = semaphores.get(terms.name());
        return semaphore == null || closed ? null : semaphore.poll(terms, System.nanoTime());
    }

    /** Removes all idle permits of the semaphore; {@link #returned} is to be called for each. */
    public List<ReusablePermit> pollAll(String name) {
        ReusedSemaphore semaphore = semaphores.get(name);
        return semaphore == null ? List.of() : semaphore.pollForReturn(permit -> true);
    }

    /** Removes the idle permits that an acquire with these terms cannot use; {@link #returned} is to be called for each. */
    public List<ReusablePermit> pollOthers(ReuseTerms terms) {
        ReusedSemaphore semaphore = semaphores.get(terms.name());
        long now = System.nanoTime();
        return semaphore == null
                ? List.of()
                : semaphore.pollForReturn(permit -> semaphore.isAwaitedElsewhere()
                        || !permit.isReusable(now)
                        || !permit.terms().equals(terms));
    }

    /** Removes the idle permits that are to go back; {@link #returned} is to be called for each. */
    List<ReusablePermit> pollDue(Predicate<String> awaited) {
        List<ReusablePermit> due = new ArrayList<>();
        long now = System.nanoTime();
        semaphores.forEach((name, semaphore) ->
                due.addAll(semaphore.pollForReturn(permit -> awaited.test(name) || semaphore.isDue(permit, now))));
        return due;
    }

    /** Records that a permit goes back that was not idle; {@link #returned} is to be called for it. */
    public void beginReturn(ReusablePermit permit) {
        ReusedSemaphore semaphore = semaphores.get(permit.terms().name());
        if (semaphore != null) {
            semaphore.returns().begin(1);
        }
    }

    /** Records that the return of a permit has ended. */
    public void returned(ReusablePermit permit) {
        ReusedSemaphore semaphore = semaphores.get(permit.terms().name());
        if (semaphore != null) {
            semaphore.returns().endOne();
        }
    }

    /** Waits until no idle permit of the semaphore is going back, or the deadline has passed. */
    void awaitReturns(String name, Deadline deadline) throws InterruptedException {
        ReusedSemaphore semaphore = semaphores.get(name);
        if (semaphore != null) {
            semaphore.returns().await(deadline);
        }
    }

    /** Waits until no permit of any semaphore is going back, or the deadline has passed; false in that case. */
    public boolean awaitReturns(Deadline deadline) throws InterruptedException {
        for (ReusedSemaphore semaphore : semaphores.values()) {
            semaphore.returns().await(deadline);
        }
        return semaphores.values().stream()
                .allMatch(semaphore -> semaphore.returns().areNone());
    }

    /**
     * As {@link #awaitReturns(String, Deadline)}, without a thread that waits.
     *
     * @param max after this time {@link #endOverdueWaits} ends the wait
     */
    CompletableFuture<?> whenReturned(String name, Duration max) {
        ReusedSemaphore semaphore = semaphores.get(name);
        if (semaphore == null) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<?> returned = semaphore.returns().whenNone(max);
        if (closed) { // meanwhile, so that nothing else would end the wait in time
            semaphore.returns().endWait();
        }
        return returned;
    }

    /** Ends asynchronous waits for permits that have not gone back in time. */
    void endOverdueWaits() {
        semaphores.values().forEach(semaphore -> semaphore.returns().endOverdueWait());
    }

    /** Forgets the permits that have expired, and whose users have dropped them, and the semaphores that had none for long. */
    void removeStale() {
        byExternalId.values().stream()
                .filter(permit -> permit.state().deadline().isPassed())
                .forEach(this::remove);
        long now = System.nanoTime();
        semaphores
                .keySet()
                .forEach(each -> semaphores.computeIfPresent(
                        each, (name, semaphore) -> semaphore.isForgotten(now) ? null : semaphore));
    }

    /** How often idle permits are to be looked at; empty if no semaphore is known. */
    Optional<Duration> untilCheck(long now) {
        return semaphores.values().stream()
                .map(semaphore -> Duration.ofNanos(semaphore.checkNanos(now, IF_NONE_IS_REUSABLE)))
                .min(Duration::compareTo);
    }

    /**
     * Sets whether callers of other instances wait for the semaphore. Until they do no longer, permits are not kept idle; they are
     * still handed to callers of this JVM that have waited longer.
     */
    public void setAwaitedElsewhere(String name, boolean awaited) {
        ReusedSemaphore semaphore = semaphores.get(name);
        if (semaphore != null) {
            semaphore.setAwaitedElsewhere(awaited);
        }
    }

    /** From now on no use begins, and no acquire waits for permits that go back. Returns the idle permits. */
    public List<ReusablePermit> close() {
        closed = true;
        List<ReusablePermit> idle = new ArrayList<>();
        semaphores.keySet().forEach(name -> idle.addAll(pollAll(name)));
        semaphores.values().forEach(semaphore -> semaphore.returns().endWait());
        return idle;
    }

    public boolean isClosed() {
        return closed;
    }
}
