package io.dbsemaphore.engine.reuse;

import io.dbsemaphore.domain.ReuseTerms;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The reusable permits of one semaphore. */
final class ReusedSemaphore {

    /** The number of tokens that are reserved for the first grant; later ones depend on how many were used. */
    static final int FIRST_TOKENS = 1 << 12;

    private static final int MIN_TOKENS = 1 << 6;
    private static final int MAX_TOKENS = 1 << 20;

    /** A permit goes back when it has been idle for this part of the reuse time. */
    private static final int IDLE_PARTS = 10;

    private static final long FORGET_AFTER = Duration.ofSeconds(10).toNanos();

    private final IdlePermits idle = new IdlePermits();
    private final long idleNanos;
    private final PendingReturns returns = new PendingReturns();
    private int live;
    private volatile int tokens = FIRST_TOKENS;
    private volatile long reusableUntil = System.nanoTime();
    private volatile boolean awaitedElsewhere;

    ReusedSemaphore(Duration reuse) {
        this.idleNanos = reuse.dividedBy(IDLE_PARTS).toNanos();
    }

    boolean offer(ReusablePermit permit) {
        return idle.offer(permit);
    }

    /** Removes an idle permit for a use; null if none can be used. */
    @Nullable ReusablePermit poll(ReuseTerms terms, long nowNanos) {
        return awaitedElsewhere
                ? null
                : idle.poll(
                        permit -> permit.isReusable(nowNanos) && permit.terms().equals(terms));
    }

    /** Removes the idle permits that match, which are going back: each counts as one of the {@link #returns} until that has ended. */
    List<ReusablePermit> pollForReturn(Predicate<ReusablePermit> filter) {
        if (!idle.has(filter)) {
            return List.of();
        }
        returns.begin(1); // first: a thread that finds no idle permit sees that one is being returned
        List<ReusablePermit> polled = idle.pollAll(filter);
        returns.begin(polled.size());
        returns.endOne();
        return polled;
    }

    PendingReturns returns() {
        return returns;
    }

    /** Counts a permit that was granted. Not to be called by two threads at a time. */
    ReusedSemaphore granted(ReusablePermit permit) {
        live++;
        reusableUntil = permit.reusableUntil();
        return this;
    }

    /**
     * Counts a permit that goes back, and adapts the number of tokens to how many it used. Not to be called by two threads at a
     * time.
     */
    void gone(ReusablePermit permit) {
        if (permit.isExhausted()) {
            tokens = Math.min(MAX_TOKENS, tokens * 2);
        } else if (permit.lastUse() < tokens / 4) {
            tokens = Math.max(MIN_TOKENS, tokens / 2);
        }
        live--;
    }

    /** The number of tokens to reserve for the next grant. */
    int tokens() {
        return tokens;
    }

    /** Whether the permit is to go back now, although nobody asks for it. */
    boolean isDue(ReusablePermit permit, long nowNanos) {
        return awaitedElsewhere || permit.isIdleFor(idleNanos, nowNanos) || !permit.isReusable(nowNanos);
    }

    void setAwaitedElsewhere(boolean awaited) {
        awaitedElsewhere = awaited;
    }

    boolean isAwaitedElsewhere() {
        return awaitedElsewhere;
    }

    /** Whether there was no permit for long, so that what was learnt may be forgotten. */
    boolean isForgotten(long nowNanos) {
        return live == 0 && returns.areNone() && nowNanos - reusableUntil > FORGET_AFTER;
    }

    /** How often the idle permits are to be looked at. */
    long checkNanos(long nowNanos, long ifNoneIsReusable) {
        return reusableUntil + idleNanos - nowNanos > 0 ? Math.max(1, idleNanos / 2) : ifNoneIsReusable;
    }
}
