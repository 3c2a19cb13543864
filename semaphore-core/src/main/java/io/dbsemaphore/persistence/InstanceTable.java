package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The instances in the database, and which of them are dead. All methods require an open transaction. */
record InstanceTable(Sql sql, Suspects suspects) {

    private static final String INSERT = """
            insert into semaphore_instance(id, owner, started_at, heartbeat_at, expires_at, nonce)
            values (?, ?, utc_now(), utc_now(), utc_plus_millis(?), ?)""";

    private static final String HEARTBEAT = """
            update semaphore_instance set heartbeat_at = utc_now(), expires_at = utc_plus_millis(?), nonce = ?
            where id = ? and (nonce <= ? or nonce = ?)""";

    private static final String DELETE = "delete from semaphore_instance where id = ?";

    private static final String SUSPECTS = """
            select distinct r.instance, i.expires_at, i.owner, i.heartbeat_at, (select utc_now())
            from %s left join semaphore_instance i on i.id = r.instance
            where %s r.instance is not null and (i.id is null or i.expires_at <= utc_now())""";

    private static final String FIND_SUSPECTS = SUSPECTS.formatted("permit_request r", "r.state = 'ACQUIRED' and");
    private static final String FIND_SUSPECTS_HOLDING = SUSPECTS.formatted(
            "permit p join permit_request r on r.id = p.permit_request_id",
            "p.semaphore_id in (?) and p.state = 'ACQUIRED' and");

    /**
     * Extends the lease of the instance by the timeout; registers the instance if it is unknown.
     *
     * @param answered the nonce of its last heartbeat that was answered; after a failover the row may have an earlier one
     * @param nonce the nonce of this heartbeat, and of unanswered ones before it
     * @throws RuntimeException {@linkplain io.dbsemaphore.jdbc.SqlErrorKind#DUPLICATE_KEY for a duplicate key} if the row has a nonce of
     *     another process
     */
    void heartbeat(long id, String owner, Duration timeout, long answered, long nonce) {
        if (sql.execute(HEARTBEAT, timeout.toMillis(), nonce, id, answered, nonce) == 0) {
            sql.update(INSERT, id, owner, timeout.toMillis(), nonce);
        }
    }

    void delete(long id) {
        sql.update(DELETE, id);
    }

    /** Finds the dead instances that hold permits, by id. */
    Map<Long, DeadInstance> findDead() {
        return suspects.dead(sql.read(FIND_SUSPECTS, Suspect::of));
    }

    Map<Long, DeadInstance> findDead(Collection<Long> semaphoreIds) {
        return suspects.dead(sql.read(FIND_SUSPECTS_HOLDING, Suspect::of, semaphoreIds));
    }

    /**
     * An instance whose heartbeat is overdue.
     *
     * @param expiresAt when its lease expired; null if it is not registered
     */
    record Suspect(DeadInstance instance, @Nullable LocalDateTime expiresAt) {

        static Suspect of(ResultSet row, int number) throws SQLException {
            LocalDateTime now = row.getObject(5, LocalDateTime.class);
            return new Suspect(
                    new DeadInstance(
                            row.getLong(1),
                            Optional.ofNullable(row.getString(3)),
                            Optional.ofNullable(row.getObject(4, LocalDateTime.class))
                                    .map(last -> Duration.between(last, now))),
                    row.getObject(2, LocalDateTime.class));
        }
    }

    /**
     * Decides which instances are dead: those whose heartbeat was overdue in two reads, at least the grace period apart. One
     * read is not enough: after an outage of the database every heartbeat is overdue until the next one is sent.
     */
    static final class Suspects {

        /** The number of instances that are cached in addition to the current suspects. */
        private static final int MAX_CACHED = 1_000;

        private final long graceNanos;
        private final LongSupplier nanoClock;
        /** Least recently seen first. */
        private final Map<Long, Sighting> sightings = new LinkedHashMap<>();

        /** When the lease of an instance expired, and when it became suspect after its last heartbeat. */
        private record Sighting(@Nullable LocalDateTime expiresAt, long nanos) {}

        Suspects(Duration grace, LongSupplier nanoClock) {
            this.graceNanos = grace.toNanos();
            this.nanoClock = nanoClock;
        }

        /** Records the instances that are suspect now, and returns those that have been suspect for the grace period. */
        synchronized Map<Long, DeadInstance> dead(Collection<Suspect> suspectNow) {
            long now = nanoClock.getAsLong();
            Map<Long, DeadInstance> dead = new TreeMap<>();
            for (Suspect suspect : suspectNow) {
                long id = suspect.instance().id();
                Sighting known = sightings.remove(id);
                long since =
                        known != null && Objects.equals(known.expiresAt(), suspect.expiresAt()) ? known.nanos() : now;
                sightings.put(id, new Sighting(suspect.expiresAt(), since));
                if (now - since >= graceNanos) {
                    dead.put(id, suspect.instance());
                }
            }
            while (sightings.size() > Math.max(MAX_CACHED, suspectNow.size())) {
                sightings.remove(sightings.keySet().iterator().next());
            }
            return dead;
        }
    }
}
