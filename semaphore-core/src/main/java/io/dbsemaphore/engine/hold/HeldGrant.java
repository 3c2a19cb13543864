package io.dbsemaphore.engine.hold;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.StoredGrant;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * This JVM's view of one grant, shared by all its handles, so that a release by one handle is visible to the handles of repeated acquires.
 */
public final class HeldGrant {

    private final long since;
    private volatile Term term;
    private volatile boolean forWork;
    private volatile @Nullable Thread worker;
    private volatile boolean outlivesShutdown;
    /** The number of acquires of this JVM that got the grant, without those whose callers left before they received it. */
    private final AtomicInteger acquires = new AtomicInteger(1);

    private volatile boolean ended;
    private final AtomicBoolean endTold = new AtomicBoolean();
    private volatile @Nullable Throwable acquiredAt;
    private volatile boolean released;
    private volatile @Nullable Binding binding;

    /**
     * A grant as last read or written, and its deadline on this JVM's monotonic clock.
     *
     * @param setAt when it was last acquired or renewed, by that clock
     */
    private record Term(StoredGrant grant, Deadline deadline, long setAt) {}

    /** The lease that protects the grant, and the epoch since which the grant is known to be held. */
    private record Binding(InstanceLease lease, long epoch) {

        boolean holds() {
            return lease.isValidSince(epoch);
        }
    }

    HeldGrant(StoredGrant grant, long asOfNanos) {
        this.since = asOfNanos;
        this.term = term(grant, asOfNanos);
    }

    /**
     * Replaces the grant after a repeated acquire or a renewal.
     *
     * @param asOfNanos this JVM's monotonic clock before the database was asked, so that the deadline is not too late
     */
    public synchronized void update(StoredGrant grant, long asOfNanos) {
        term = term(grant, asOfNanos);
    }

    /** Replaces the grant by one that was read, unless it was set after the database was asked: the read may then be older. */
    synchronized void read(StoredGrant grant, long asOfNanos) {
        if (asOfNanos - term.setAt() > 0) {
            term = new Term(grant, deadline(grant, asOfNanos), term.setAt());
        }
    }

    /** Records that the database has set the expiry. */
    synchronized void extend(Deadline expiry) {
        long now = System.nanoTime();
        long later = expiry.remainingNanos(now) - term.deadline().remainingNanos(now);
        term = new Term(term.grant().extendedBy(Duration.ofNanos(later)), expiry, now);
    }

    /** Sets whether the grant is held for work of this JVM, for which a shutdown waits. The thread of the work is not known. */
    public void setForWork(boolean forWork) {
        this.forWork = forWork;
        worker = null;
    }

    /** Records that the current thread runs the work under the grant. */
    public void setWorkOfCurrentThread() {
        worker = Thread.currentThread();
    }

    /**
     * Whether the work cannot end before the shutdown: the current thread runs both the work and the shutdown, or the thread of the work
     * has called {@link Runtime#exit}, which does not return.
     */
    boolean isWorkThatAwaitsShutdown() {
        Thread works = worker;
        return works != null
                && (works == Thread.currentThread()
                        || Arrays.stream(works.getStackTrace())
                                .anyMatch(frame -> frame.getClassName().equals("java.lang.Runtime")
                                        && frame.getMethodName().equals("exit")));
    }

    public boolean isForWork() {
        return forWork;
    }

    /**
     * Records how the grant was acquired.
     *
     * @param outlivesShutdown whether a shutdown leaves the grant held until its time to live has passed
     * @param acquiredAt the stack of the acquire, if leaks are detected
     */
    public void acquired(boolean outlivesShutdown, @Nullable Throwable acquiredAt) {
        this.outlivesShutdown = outlivesShutdown;
        this.acquiredAt = acquiredAt;
    }

    public boolean outlivesShutdown() {
        return outlivesShutdown || grant().ttl() == null;
    }

    /**
     * Binds the grant to the lease of this instance: it counts as held only while the lease is valid. After the lease has lapsed, the grant
     * counts as held once the database confirms that it was not reclaimed.
     *
     * @param epoch the epoch before the database confirmed that the grant is held; ignored if the grant was confirmed in a later one
     */
    synchronized void bindTo(InstanceLease lease, long epoch) {
        if (binding == null || binding.lease() != lease || binding.epoch() < epoch) {
            binding = new Binding(lease, epoch);
        }
    }

    /** Binds the grant to no lease: it counts as held until it expires. */
    public void unbind() {
        binding = null;
    }

    /** Whether the lease has been valid since the grant was confirmed, so that the grant cannot have been reclaimed. */
    boolean isLeaseValid() {
        Binding bound = binding;
        return bound == null || bound.holds();
    }

    /** Whether the grant is not bound to a lease, or was confirmed in this epoch. */
    boolean isBoundSince(long epoch) {
        Binding bound = binding;
        return bound == null || bound.epoch() == epoch;
    }

    /** Whether it was acquired under a former id of this instance, which now belongs to a copy of this process. */
    boolean isOfFormerId() {
        Binding bound = binding;
        return bound != null && bound.lease().isOfFormerId(bound.epoch());
    }

    public StoredGrant grant() {
        return term.grant();
    }

    /** The time since this JVM registered the grant. */
    public Duration heldFor() {
        return Duration.ofNanos(System.nanoTime() - since);
    }

    public Deadline deadline() {
        return term.deadline();
    }

    /**
     * Claims the right to report the end of the grant. Returns true for the first caller only: a release or a loss is reported once.
     */
    public boolean claimEnd() {
        return endTold.compareAndSet(false, true);
    }

    /** Lets the grant expire: neither its expiry nor a possible leak is reported. */
    void leave() {
        endTold.set(true);
        acquiredAt = null;
    }

    /** Records that a repeated acquire has confirmed the grant: a later loss is reported again. */
    void repeated() {
        acquires.incrementAndGet();
        endTold.set(false);
        worker = null; // the thread of another acquire is not known
    }

    /** Records that the caller of an acquire has left before it received the grant. Returns whether all callers have left. */
    public boolean leftByLast() {
        return acquires.decrementAndGet() == 0;
    }

    @Nullable Throwable acquiredAt() {
        return acquiredAt;
    }

    /** Ends the grant for all handles. Irreversible. */
    void end() {
        ended = true;
    }

    /** Records that the database has confirmed the release. */
    public void released() {
        released = true;
    }

    public boolean isReleased() {
        return released;
    }

    /** Whether the grant is held, as far as this JVM knows. */
    public boolean isHeld() {
        return !ended && !isReclaimable();
    }

    /** Whether others may have its permits: the grant or the lease has expired. */
    public boolean isReclaimable() {
        return term.deadline().isPassed() || !isLeaseValid();
    }

    private static Term term(StoredGrant grant, long asOfNanos) {
        return new Term(grant, deadline(grant, asOfNanos), System.nanoTime());
    }

    private static Deadline deadline(StoredGrant grant, long asOfNanos) {
        return grant.remaining()
                .map(remaining -> Deadline.after(asOfNanos, remaining))
                .orElse(Deadline.NEVER);
    }
}
