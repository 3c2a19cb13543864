package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** The handle of one acquire. Reports this JVM's view of the grant; operations are delegated to the engine. */
public class GrantHandle implements PermitGrant {

    /** The operations of an engine on a grant, called by its handle. */
    public interface Operations {

        /**
         * Sets the expiry to now + {@code ttl}.
         *
         * @throws io.dbsemaphore.PermitLostException when the grant is no longer held
         */
        void renew(GrantHandle handle, Duration ttl);

        /** Releases a grant that this JVM acquired or found. */
        ReleaseOutcome release(GrantHandle handle);
    }

    private final HeldGrant state;
    private final boolean replayed;
    private final Operations operations;

    /**
     * Creates a handle.
     *
     * @param operations the operations of the engine, even after it was stopped and started
     */
    public GrantHandle(HeldGrant state, boolean replayed, Operations operations) {
        this.state = state;
        this.replayed = replayed;
        this.operations = operations;
    }

    /** Lets a grant whose work has ended expire, without reporting that as a loss. */
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
    public Optional<String> label() {
        return Optional.ofNullable(stored().label());
    }

    @Override
    public Map<String, Integer> permits() {
        return stored().counts();
    }

    @Override
    public long fencingToken(String name) {
        return stored().permits().stream()
                .filter(permit -> permit.name().equals(name))
                .findFirst()
                .map(StoredPermit::token)
                .orElseThrow(() -> new IllegalArgumentException("The grant has no permit of semaphore '" + name
                        + "', but of " + permits().keySet()));
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
        operations.renew(this, ttl);
        return this;
    }

    @Override
    public ReleaseOutcome release() {
        return operations.release(this);
    }

    @Override
    public String toString() {
        String label = label().map(text -> " for " + text).orElse("");
        return "PermitGrant[%s, %s, of %s%s, %s]"
                .formatted(externalId(), permits(), owner(), label, isHeld() ? "held" : "not held");
    }

    public boolean isOf(Operations other) {
        return operations == other;
    }

    /** The time since this JVM acquired the grant. */
    public Duration heldFor() {
        return state.heldFor();
    }

    public HeldGrant state() {
        return state;
    }

    public StoredGrant stored() {
        return state.grant();
    }
}
