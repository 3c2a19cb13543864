package io.dbsemaphore.engine.hold;

import io.dbsemaphore.ReleaseOutcome;
import java.time.Duration;

/** What the handle of a grant asks its engine to do. */
public interface GrantOperations {

    /**
     * Sets the expiry to now + {@code ttl}.
     *
     * @throws io.dbsemaphore.PermitLostException when the grant is not held any more
     */
    void renew(HeldGrant grant, Duration ttl);

    /** Releases a grant that this JVM has acquired or found. */
    ReleaseOutcome release(HeldGrant grant);
}
