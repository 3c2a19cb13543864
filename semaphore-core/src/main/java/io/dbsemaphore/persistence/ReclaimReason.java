package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.StoredGrant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A reason why held requests may be released without their holder.
 *
 * @param inWords the reason, for the audit
 * @param condition SQL for a row {@code r} of the table of requests. It is checked again when the row is locked
 * @param values the values of the condition
 * @param dead the instances that are gone, by id; empty if that is not the reason
 */
public record ReclaimReason(String inWords, String condition, List<?> values, Map<Long, DeadInstance> dead) {

    private static final String INSTANCE_GONE = """
            r.instance in (?) and not exists (
                select 1 from semaphore_instance i where i.id = r.instance and i.expires_at > utc_now())""";

    /** The time to live has passed. */
    public static ReclaimReason expired() {
        return new ReclaimReason("Its time to live had passed", "r.expires_at <= utc_now()", List.of(), Map.of());
    }

    /** One of these instances kept the request alive, and has sent no heartbeat since it was found dead. */
    static ReclaimReason instanceGone(Map<Long, DeadInstance> dead) {
        return new ReclaimReason(
                "The instance that kept it alive is not registered any more",
                INSTANCE_GONE,
                List.of(dead.keySet()),
                dead);
    }

    /** The request has no time to live, and was neither acquired nor renewed for this time. */
    public static ReclaimReason stale(Duration staleAfter) {
        return new ReclaimReason(
                "It has no time to live, and was neither acquired nor renewed for %d s"
                        .formatted(staleAfter.toSeconds()),
                "r.expires_at is null and r.renewed_at <= utc_plus_millis(?)",
                List.of(-staleAfter.toMillis()),
                Map.of());
    }

    /**
     * The owner was found dead.
     *
     * @param since when it was first found dead, by the database's clock; requests acquired or renewed later are not reclaimed
     */
    public static ReclaimReason ownerDead(String owner, Instant since) {
        return new ReclaimReason(
                "Its owner was found dead",
                "r.owner = ? and r.renewed_at <= ?",
                List.of(owner, StoredGrant.utc(since)),
                Map.of());
    }

    /** The reason, for the log. */
    @Override
    public String toString() {
        return inWords;
    }
}
