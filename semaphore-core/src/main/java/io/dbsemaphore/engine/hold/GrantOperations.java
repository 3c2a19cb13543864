package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import java.time.Duration;

/** The operations of an engine on a grant, called by its handle. */
public interface GrantOperations {

    /**
     * Sets the expiry to now + {@code ttl}.
     *
     * @param handle of the grant, for those that are told of a loss
     * @throws io.dbsemaphore.PermitLostException when the grant is no longer held
     */
    void renew(HeldGrant grant, PermitGrant handle, Duration ttl);

    /**
     * Releases a grant that this JVM acquired or found.
     *
     * @param handle of the grant, for those that are told of a loss
     */
    ReleaseOutcome release(HeldGrant grant, PermitGrant handle);
}
