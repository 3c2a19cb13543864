package io.dbsemaphore.engine.hold;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What this JVM knows of one grant, shared by all handles of it: a handle that releases is seen by those that an
 * idempotent repetition made.
 */
public final class HeldGrant {

    private final long since;
    private volatile Term term;
    private volatile boolean forWork;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile boolean released;
    private volatile @Nullable Binding binding;

    /** A grant as it was last read or written, and until when that holds on this JVM's clock. */
    private record Term(StoredGrant grant, Deadline deadline) {}

    /** The heartbeat that keeps others from taking the grant, and since which of its lapses the grant is known held. */
    private record Binding(InstanceLease lease, long epoch) {

        boolean holds() {
            return lease.isLeaseValidSince(epoch);
        }
    }

    HeldGrant(StoredGrant grant, long asOfNanos) {
        this.since = asOfNanos;
        this.term = term(grant, asOfNanos);
    }

    /**
     * Takes over what the database said.
     *
     * @param asOfNanos this JVM's clock before the database was asked, so that the deadline errs to the safe side
     */
    synchronized void update(StoredGrant grant, long asOfNanos) {
        term = term(grant, asOfNanos);
    }

    /** The database has set the expiry to now + the time to live, not before {@code asOfNanos}. */
    synchronized void extend(long asOfNanos) {
        StoredGrant grant = term.grant();
        if (grant.ttl() != null) {
            term = new Term(grant, Deadline.after(asOfNanos, grant.ttl()));
        }
    }

    /** The grant is held for work that runs in this JVM, and that a shutdown waits for. */
    public void markForWork() {
        forWork = true;
    }

    boolean isForWork() {
        return forWork;
    }

    /**
     * Binds the grant to the heartbeat of this JVM: it counts as held only as long as others believe that, and not
     * after a later lapse, until it is known that nobody took it in that.
     *
     * @param epoch those of the lease before the database said that the grant is held
     */
    public void bindTo(InstanceLease lease, long epoch) {
        binding = new Binding(lease, epoch);
    }

    /** Whether nobody can have taken the grant in a lapse of the heartbeat. */
    boolean isLeaseValid() {
        Binding bound = binding;
        return bound == null || bound.holds();
    }

    /** Whether the grant is bound to the heartbeat as it is since the last of its lapses. */
    boolean isBoundSince(long epoch) {
        Binding bound = binding;
        return bound == null || bound.epoch() == epoch;
    }

    public StoredGrant grant() {
        return term.grant();
    }

    /** How long this JVM has known of the grant. */
    public Duration heldFor() {
        return Duration.ofNanos(System.nanoTime() - since);
    }

    public Deadline deadline() {
        return term.deadline();
    }

    /** From here on no handle says held. One way; true for the one who ends it. */
    public boolean end() {
        return ended.compareAndSet(false, true);
    }

    boolean isEnded() {
        return ended.get();
    }

    /** The database has said that it is released, so it need not be asked again. */
    public void released() {
        released = true;
    }

    public boolean isReleased() {
        return released;
    }

    boolean isHeld() {
        return !ended.get() && !term.deadline().isPassed() && isLeaseValid();
    }

    private static Term term(StoredGrant grant, long asOfNanos) {
        return new Term(
                grant,
                grant.remaining()
                        .map(remaining -> Deadline.after(asOfNanos, remaining))
                        .orElse(Deadline.NEVER));
    }
}
