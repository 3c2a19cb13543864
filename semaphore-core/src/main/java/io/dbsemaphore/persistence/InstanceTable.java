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
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The instances in the database, and which of them are dead. All methods but {@link #find} require an open transaction. */
final class InstanceTable {

    private static final String INSERT = """
            insert into semaphore_instance(id, owner, started_at, heartbeat_at, expires_at)
            values (?, ?, utc_now(), utc_now(), utc_plus_millis(?))""";

    private static final String HEARTBEAT =
            "update semaphore_instance set heartbeat_at = utc_now(), expires_at = utc_plus_millis(?) where id = ?";

    private static final String DELETE = "delete from semaphore_instance where id = ?";

    private static final String SUSPECTS = """
            select distinct r.instance, i.expires_at, i.owner, i.heartbeat_at, utc_now()
            from %s left join semaphore_instance i on i.id = r.instance
            where %s r.instance is not null and (i.id is null or i.expires_at <= utc_now())""";

    private static final String FIND_SUSPECTS = SUSPECTS.formatted("permit_request r", "r.state = 'ACQUIRED' and");
    private static final String FIND_SUSPECTS_HOLDING = SUSPECTS.formatted(
            "permit p join permit_request r on r.id = p.permit_request_id",
            "p.semaphore_id in (?) and p.state = 'ACQUIRED' and");

    private final Sql sql;
    private final Suspects suspects;

    InstanceTable(Sql sql, Duration suspectGrace) {
        this.sql = sql;
        suspects = new Suspects(suspectGrace);
    }

    /** Extends the lease of the instance by the timeout; registers the instance if it is unknown. */
    void heartbeat(long id, String owner, Duration timeout) {
        if (sql.execute(HEARTBEAT, timeout.toMillis(), id) == 0) {
            sql.update(INSERT, id, owner, timeout.toMillis());
        }
    }

    void delete(long id) {
        sql.update(DELETE, id);
    }

    /** The dead instances that hold permits. */
    Set<Long> findDead() {
        return suspects.dead(sql.read(FIND_SUSPECTS, Suspect::of));
    }

    Set<Long> findDead(Collection<Long> semaphoreIds) {
        return suspects.dead(sql.read(FIND_SUSPECTS_HOLDING, Suspect::of, semaphoreIds));
    }

    /** Returns a dead instance as far as it is known, without a statement. */
    DeadInstance find(long instance) {
        return suspects.find(instance).orElseGet(() -> new DeadInstance(instance, Optional.empty(), Optional.empty()));
    }

    /**
     * An instance whose heartbeat is overdue.
     *
     * @param expiresAt when its lease expired; null, like owner and heartbeat, if it is not registered
     * @param now the database's clock when the row was read
     */
    record Suspect(
            long instance,
            @Nullable LocalDateTime expiresAt,
            @Nullable String owner,
            @Nullable LocalDateTime heartbeatAt,
            LocalDateTime now) {

        /** Whether there was no heartbeat between these two reads. */
        boolean isUnchanged(Suspect other) {
            return instance == other.instance && Objects.equals(expiresAt, other.expiresAt);
        }

        DeadInstance toDead() {
            return new DeadInstance(
                    instance,
                    Optional.ofNullable(owner),
                    Optional.ofNullable(heartbeatAt).map(last -> Duration.between(last, now)));
        }

        static Suspect of(ResultSet row, int number) throws SQLException {
            return new Suspect(
                    row.getLong(1),
                    row.getObject(2, LocalDateTime.class),
                    row.getString(3),
                    row.getObject(4, LocalDateTime.class),
                    row.getObject(5, LocalDateTime.class));
        }
    }

    /**
     * Decides which instances are dead: those whose heartbeat was overdue in two reads, at least the grace period apart. One
     * read is not enough: after an outage of the database every heartbeat is overdue until its JVM has sent the next one.
     */
    static final class Suspects {

        /** The number of instances that are cached in addition to the current suspects. */
        private static final int MAX_CACHED = 1_000;

        private final long graceNanos;
        private final LongSupplier nanoClock;
        /** Least recently seen first. */
        private final Map<Long, Sighting> sightings = new LinkedHashMap<>();

        /** The last read of a suspect instance, and when it was first suspect after its last heartbeat. */
        private record Sighting(Suspect suspect, long nanos) {}

        Suspects(Duration grace) {
            this(grace, System::nanoTime);
        }

        Suspects(Duration grace, LongSupplier nanoClock) {
            this.graceNanos = grace.toNanos();
            this.nanoClock = nanoClock;
        }

        synchronized int cached() {
            return sightings.size();
        }

        /** Records the instances that are suspect now, and returns those that have been suspect for the grace period. */
        synchronized Set<Long> dead(Collection<Suspect> suspectNow) {
            long now = nanoClock.getAsLong();
            Set<Long> dead = new TreeSet<>();
            for (Suspect suspect : suspectNow) {
                Sighting known = sightings.remove(suspect.instance());
                long since = known != null && known.suspect().isUnchanged(suspect) ? known.nanos() : now;
                sightings.put(suspect.instance(), new Sighting(suspect, since));
                if (now - since >= graceNanos) {
                    dead.add(suspect.instance());
                }
            }
            while (sightings.size() > Math.max(MAX_CACHED, suspectNow.size())) {
                sightings.remove(sightings.keySet().iterator().next());
            }
            return dead;
        }

        /** The last read of a suspect instance; empty if it is not cached. */
        synchronized Optional<DeadInstance> find(long instance) {
            return Optional.ofNullable(sightings.get(instance))
                    .map(Sighting::suspect)
                    .map(Suspect::toDead);
        }
    }
}
