package io.dbsemaphore.domain;

import java.time.Instant;

/** Why a held request may be reclaimed without its holder. */
public sealed interface ReclaimReason {

    /** Its time to live has passed. */
    record Expired() implements ReclaimReason {}

    /** The JVM that kept it alive is gone. */
    record InstanceGone() implements ReclaimReason {}

    /** It has no time to live, and has been neither acquired nor renewed for this long. */
    record Stale(long staleAfterMillis) implements ReclaimReason {}

    /**
     * Its owner was found dead.
     *
     * @param since when that was first found, by the database's clock; requests acquired or renewed later are not reclaimed
     */
    record OwnerDead(String owner, Instant since) implements ReclaimReason {}
}
