package io.dbsemaphore.engine.quota;

import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.quota.Quota.Chunk;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The handle of one use of a {@link Chunk}. It ends with that use, so that a late call never affects the next use.
 *
 * <p>Its external id consists of the request's external id and the number of the use, such as {@code …#7}; only this JVM knows it. If the
 * handle exposed the request's own id, other instances could act on a later use.
 */
public final class ReusedGrant extends GrantHandle {

    private static final char SEPARATOR = '#';

    private final Chunk chunk;
    private final int use;
    private final long since;
    private final AtomicReference<State> state = new AtomicReference<>(State.HELD);

    public enum State {
        /** Only this JVM knows of the use: after its end, another may follow without a transaction. */
        HELD,
        /** The caller has checked or renewed the grant, so that the end of the use must be written to the database. */
        BOUND,
        ENDED,
        /** The use has ended, and the grant is released with it. */
        ENDED_WITH_GRANT
    }

    /** Begins the next use of a chunk that belongs to the calling thread. */
    public ReusedGrant(Chunk chunk, Operations operations) {
        super(chunk.state(), false, operations);
        this.chunk = chunk;
        this.since = System.nanoTime();
        this.use = chunk.uses();
        chunk.beginUse(this, since); // last: it publishes this handle and its number to other threads
    }

    /** The external id of the request, without the number of the use. */
    public static String requestOf(String externalId) {
        int end = externalId.lastIndexOf(SEPARATOR);
        return end < 0 ? externalId : externalId.substring(0, end);
    }

    /** Ends the use, and returns the previous state. */
    public State end() {
        State before = state.getAndUpdate(each -> each == State.HELD || each == State.BOUND ? State.ENDED : each);
        if (before == State.HELD || before == State.BOUND) {
            chunk.endUse();
        }
        return before;
    }

    /** Records that the grant is released with this use. */
    public void endWithGrant() {
        state.set(State.ENDED_WITH_GRANT);
    }

    /** Ensures that the end of this use is in the database before another one follows. Returns false if this one has ended. */
    public boolean bind() {
        return state.compareAndSet(State.HELD, State.BOUND) || state.get() == State.BOUND;
    }

    public Chunk chunk() {
        return chunk;
    }

    /** The time since the use began. */
    @Override
    public Duration heldFor() {
        return Duration.ofNanos(System.nanoTime() - since);
    }

    @Override
    public String externalId() {
        return super.externalId() + SEPARATOR + use;
    }

    @Override
    public long fencingToken(String name) {
        return super.fencingToken(name) + use;
    }

    @Override
    public Instant acquiredAt() {
        Instant granted = super.acquiredAt();
        return use == 0 ? granted : granted.plusNanos(since - chunk.grantedAt());
    }

    @Override
    public boolean isReused() {
        return use > 0;
    }

    @Override
    public boolean isHeld() {
        State current = state.get();
        return (current == State.HELD || current == State.BOUND) && super.isHeld();
    }
}
