package io.dbsemaphore.engine.quota;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.hold.HeldGrant;
import org.jspecify.annotations.Nullable;

/**
 * A part of a {@link Quota}: what one acquire was granted, and a range of fencing tokens, for one use after the other. Belongs to one
 * thread at a time: to its user, or to the thread that has taken it out of the idle chunks.
 */
public final class Chunk {

    private final Quota quota;
    private final HeldGrant state;
    private final ReuseTerms terms;
    private final int tokens;
    private final long grantedAt;
    private volatile long confirmedAt;
    private volatile int uses;
    private volatile long usedAt;
    private volatile @Nullable PermitGrant user;

    /**
     * Creates it for its first use.
     *
     * @param tokens the number of tokens that were reserved for it
     * @param grantedAt this JVM's monotonic clock before the database was asked
     */
    public Chunk(Quota quota, HeldGrant state, ReuseTerms terms, int tokens, long grantedAt) {
        this.quota = quota;
        this.state = state;
        this.terms = terms;
        this.tokens = tokens;
        this.grantedAt = grantedAt;
        this.confirmedAt = grantedAt;
        this.usedAt = grantedAt;
    }

    /** Whether another use may begin, if the database confirms in time that the grant is held. */
    boolean isConfirmable(long nowNanos) {
        return uses < tokens && nowNanos - grantedAt < quota.lifeOf(terms).toNanos() && state.isHeld();
    }

    /** The time since the database was last asked whether the grant is held. */
    long unconfirmedFor(long nowNanos) {
        return nowNanos - confirmedAt;
    }

    /**
     * Records that the database has confirmed that the grant is held.
     *
     * @param asOf this JVM's monotonic clock before the database was asked
     */
    public void confirm(long asOf) {
        confirmedAt = asOf;
    }

    /** Begins a use, and returns its number; the first one is 0. */
    @SuppressWarnings({"NonAtomicOperationOnVolatileField", "NonAtomicVolatileUpdate"}) // belongs to one thread
    int beginUse(PermitGrant handle, long nowNanos) {
        user = handle;
        usedAt = nowNanos;
        return uses++;
    }

    void endUse() {
        user = null;
        usedAt = System.nanoTime();
    }

    /** The time since the last use ended, or since the current one began. */
    long unusedFor(long nowNanos) {
        return nowNanos - usedAt;
    }

    int uses() {
        return uses;
    }

    boolean isExhausted() {
        return uses >= tokens;
    }

    long token(int use) {
        return state.grant().permits().get(0).token() + use;
    }

    /** The handle of the current use; null when it is idle. */
    public @Nullable PermitGrant user() {
        return user;
    }

    /** When it was granted, by this JVM's monotonic clock. */
    long grantedAt() {
        return grantedAt;
    }

    public Quota quota() {
        return quota;
    }

    public HeldGrant state() {
        return state;
    }

    public ReuseTerms terms() {
        return terms;
    }
}
