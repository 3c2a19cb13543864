package io.dbsemaphore.domain;

import java.time.Instant;

/** Why a held request may be taken back without its holder. */
public sealed interface ReclaimReason {

    /** Its time to live has passed. */
    record Expired() implements ReclaimReason {}

    /** The JVM that kept it alive is gone. */
    record InstanceGone() implements ReclaimReason {}

    /** It has no time to live, and was neither acquired nor renewed for so long. */
    record Stale(long staleAfterMillis) implements ReclaimReason {}

    /**
     * Its owner was found dead.
     *
     * @param since when that was first found, by the database's clock; what it acquired or renewed later is not meant
     */
    record OwnerDead(String owner, Instant since) implements ReclaimReason {}
}
