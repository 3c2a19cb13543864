package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The handle of one acquire. Reports this JVM's view of the grant; operations are delegated to the engine. */
public final class GrantHandle implements PermitGrant {

    /** The operations of an engine on a grant, called by its handle. */
    public interface Operations {

        /**
         * Sets the expiry to now + {@code ttl}.
         *
         * @param handle the handle of the grant, for listeners of a loss
         * @throws io.dbsemaphore.PermitLostException when the grant is no longer held
         */
        void renew(HeldGrant grant, PermitGrant handle, Duration ttl);

        /**
         * Releases a grant that this JVM acquired or found.
         *
         * @param handle the handle of the grant, for listeners of a loss
         */
        ReleaseOutcome release(HeldGrant grant, PermitGrant handle);
    }

    private final HeldGrant state;
    private final boolean replayed;
    private final Operations operations;
    private final SortedMap<String, StoredPermit> permitsByName = new TreeMap<>();

    /**
     * Creates a handle.
     *
     * @param operations of the engine, across its stops and starts
     */
    public GrantHandle(HeldGrant state, boolean replayed, Operations operations) {
        this.state = state;
        this.replayed = replayed;
        this.operations = operations;
        state.grant().permits().forEach(permit -> permitsByName.put(permit.name(), permit));
    }

    /** Leaves a grant whose work has ended to its time to live, so that its expiry is not reported as a loss. */
    public static void leave(PermitGrant grant) {
        if (grant instanceof GrantHandle handle) {
            handle.state.leave();
        }
    }

    @Override
    public String externalId() {
        return stored().externalId();
    }

    @Override
    public String owner() {
        return stored().owner();
    }

    @Override
    public Map<String, Integer> permits() {
        SortedMap<String, Integer> counts = new TreeMap<>();
        permitsByName.forEach((name, permit) -> counts.put(name, permit.count()));
        return Collections.unmodifiableSortedMap(counts);
    }

    @Override
    public long fencingToken(String name) {
        StoredPermit permit = permitsByName.get(name);
        if (permit == null) {
            throw new IllegalArgumentException(
                    "The grant has no permit of semaphore '" + name + "', but of " + permitsByName.keySet());
        }
        return permit.token();
    }

    @Override
    public Instant acquiredAt() {
        return stored().acquiredAt();
    }

    @Override
    public Optional<Instant> expiresAt() {
        return Optional.ofNullable(stored().expiresAt());
    }

    @Override
    public boolean isReplayed() {
        return replayed;
    }

    @Override
    public boolean isHeld() {
        return state.isHeld();
    }

    @Override
    public PermitGrant renew(Duration ttl) {
        operations.renew(state, this, ttl);
        return this;
    }

    @Override
    public ReleaseOutcome release() {
        return operations.release(state, this);
    }

    @Override
    public String toString() {
        return "PermitGrant[%s, %s, of %s, %s]"
                .formatted(externalId(), permits(), owner(), isHeld() ? "held" : "not held");
    }

    public boolean isOf(Operations other) {
        return operations == other;
    }

    public HeldGrant state() {
        return state;
    }

    public StoredGrant stored() {
        return state.grant();
    }
}
