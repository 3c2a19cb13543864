package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.StoredGrant;
import java.time.Duration;
import java.util.Optional;

/** How a grant is renewed on demand. */
public interface Renewals extends AutoCloseable {

    /** Sets the expiry to now + {@code ttl}; empty when the grant is not held any more. An interrupt does not end that. */
    Optional<StoredGrant> renew(String externalId, Duration ttl);

    /** Lets what is under way come to its end. */
    @Override
    void close();
}
