package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.StoredGrant;
import java.time.Duration;
import java.util.Optional;

/** How a grant is renewed on demand. */
interface Renewals extends AutoCloseable {

    /** Sets the expiry to now + {@code ttl}; empty when the grant is not held any more. An interrupt does not end that. */
    Optional<StoredGrant> renew(String externalId, Duration ttl);

    /** Lets what is under way come to its end. */
    @Override
    void close();
}
