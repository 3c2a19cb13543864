package io.dbsemaphore.persistence;

import java.time.Instant;

/** Why a held request may be taken back without its holder. */
public sealed interface OrphanReason {

    /** Its time to live has passed. */
    record Expired() implements OrphanReason {}

    /** The JVM that kept it alive is gone. */
    record InstanceGone() implements OrphanReason {}

    /** It has no time to live, and was neither acquired nor renewed for so long. */
    record Stale(long staleAfterMillis) implements OrphanReason {}

    /**
     * Its owner was found dead.
     *
     * @param since when that was first found, by the database's clock; what it acquired or renewed later is not meant
     */
    record OwnerDead(String owner, Instant since) implements OrphanReason {}
}
