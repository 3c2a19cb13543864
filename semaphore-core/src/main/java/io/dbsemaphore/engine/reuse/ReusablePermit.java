package io.dbsemaphore.engine.reuse;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.hold.HeldGrant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one acquire was granted, and a range of fencing tokens, for one use after the other. Belongs to one thread at a time: to
 * its user, or to the thread that has taken it out of the {@link IdlePermits}.
 */
public final class ReusablePermit {

    private final HeldGrant state;
    private final ReuseTerms terms;
    private final long firstToken;
    private final int tokens;
    private final long grantedAt;
    private final long reusableUntil;
    private volatile int uses;
    private volatile long idleSince;
    private volatile @Nullable PermitGrant user;

    /**
     * Creates it for its first use.
     *
     * @param tokens the number of tokens that were reserved for it
     * @param grantedAt this JVM's monotonic clock before the database was asked
     * @param reuse how long after that a use may begin
     */
    ReusablePermit(HeldGrant state, ReuseTerms terms, int tokens, long grantedAt, Duration reuse) {
        this.state = state;
        this.terms = terms;
        this.firstToken = state.grant().permits().get(0).token();
        this.tokens = tokens;
        this.grantedAt = grantedAt;
        this.reusableUntil = grantedAt + reuse.toNanos();
    }

    /** Whether another use may begin: a token is left, the reuse time has not passed, and the grant is held. */
    boolean isReusable(long nowNanos) {
        return uses < tokens && reusableUntil - nowNanos > 0 && state.isHeld();
    }

    /** Begins a use, and returns its number; the first one is 0. */
    @SuppressWarnings({"NonAtomicOperationOnVolatileField", "NonAtomicVolatileUpdate"}) // belongs to one thread
    int beginUse() {
        return uses++;
    }

    /** The number of the current or last use. */
    int lastUse() {
        return uses - 1;
    }

    long token(int use) {
        return firstToken + use;
    }

    boolean isExhausted() {
        return uses >= tokens;
    }

    /** Sets the handle of the current use; null between two uses. */
    void setUser(@Nullable PermitGrant handle) {
        user = handle;
    }

    /** The handle of the current use; null when it is idle. */
    public @Nullable PermitGrant user() {
        return user;
    }

    void setIdleSince(long nowNanos) {
        idleSince = nowNanos;
    }

    boolean isIdleFor(long nanos, long nowNanos) {
        return nowNanos - idleSince >= nanos;
    }

    /** When it was granted, by this JVM's monotonic clock. */
    long grantedAt() {
        return grantedAt;
    }

    long reusableUntil() {
        return reusableUntil;
    }

    public HeldGrant state() {
        return state;
    }

    public ReuseTerms terms() {
        return terms;
    }
}
