package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table of permits: the SQL of grants and releases. Queued statements are executed in the next round trip of the transaction, at the
 * latest with its commit.
 */
final class PermitTable {

    private static final String INSERT = """
            insert into permit(id, semaphore_id, permit_request_id, count, exclusive, state, token)
            values (?, ?, ?, ?, ?, ?, ?)""";

    private static final String SUMS =
            "coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), coalesce(min(p.token), 0), utc_now()";

    /** The condition for held permits, from the low watermark of the semaphore on. */
    private static final String HELD = """
            p.semaphore_id = ? and p.state = 'ACQUIRED' and p.token >= (select s.live_from from semaphore s where s.id = ?)""";

    private static final String SUM_OF_ONE = "select " + SUMS + " from permit p where " + HELD;
    /** The clock is that of the last grant. */
    private static final String SUM_OF_GRANTED = """
            select coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), coalesce(min(p.token), 0),
                (select s.updated_at from semaphore s where s.id = ?)
            from permit p where p.semaphore_id = ? and p.state = 'ACQUIRED' and p.token >= ?""";

    private static final String SUM_OF_MANY =
            "select p.semaphore_id, " + SUMS + ", all_rows() + 1 from permit p where ";
    /** Reads the clock from a table, because SQL firewalls reject a union without one. */
    private static final String BY_SEMAPHORE_AND_CLOCK =
            " group by p.semaphore_id union all (select 0, 0, 0, 0, utc_now(), 1 from semaphore s where s.id in (?) limit 1)";

    /** One row for each semaphore. A list of conditions, as above, would need a plan for each length. */
    private static final String SUM_OF_EACH = """
            select s.id, sums.*, all_rows() from semaphore s cross join lateral (select %s from permit p
            where p.semaphore_id = s.id and p.state = 'ACQUIRED' and p.token >= s.live_from) sums where s.id in (?)""".formatted(SUMS);

    /** The maximum number of semaphores in one statement; no batch has more. With more conditions, MySQL takes longer for each. */
    private static final int MAX_SUMS = 200;

    private static final String LOCK_SKIP_LOCKED = """
            select id from permit where id in (?) and state = 'ACQUIRED' order by id for update skip locked""";

    /** The hint makes MySQL use the primary key. Otherwise it would scan all rows of a small table, and meet other locks. */
    private static final String LOCK_NOWAIT = """
            select /*+ index(p primary) */ p.id from permit p
            where p.id in (?) and p.state = 'ACQUIRED' order by p.id for update nowait""";

    private static final String RELEASE = "update permit set state = 'RELEASED' where %s and state = 'ACQUIRED'";

    /** A condition that is always true. It sends the notifications without another statement, and only if callers wait. */
    private static final String NOTIFICATION =
            " and (select count(%s) from semaphore s where s.waiters_until > utc_now()"
                    + " and s.id in (select p.semaphore_id from permit p where %s)) >= 0";

    private static final String FIND_HELD =
            "select id, permit_request_id, all_rows() from permit where permit_request_id in (?) and state = 'ACQUIRED'";

    private static final String FIND_REQUESTS_HOLDING =
            "select permit_request_id from permit where permit_request_id in (?) and semaphore_id in (?) and state = 'ACQUIRED'";

    private static final String FIND_BY_REQUESTS = """
            select p.permit_request_id, p.id, s.name, s.capacity, p.count, p.token, p.semaphore_id, all_rows()
            from permit p join semaphore s on s.id = p.semaphore_id where p.permit_request_id in (?) order by p.id""";

    private static final String FIND_FIRST_HOLDERS = """
            select r.owner, r.instance, r.label, r.created_at
            from semaphore s
              join permit p on p.semaphore_id = s.id and p.state = 'ACQUIRED' and p.token >= s.live_from
              join permit_request r on r.id = p.permit_request_id
            where s.name = ? order by p.token limit ?""";

    private final Sql sql;
    private final boolean notifies;
    private final String release;
    private final String releaseOfRequests;
    private final String releaseOfReleased;

    PermitTable(Sql sql, @Nullable ReleaseChannel channel) {
        this.sql = sql;
        this.notifies = channel != null;
        this.release = release("id in (?)", channel);
        this.releaseOfRequests = release("permit_request_id in (?)", channel);
        this.releaseOfReleased = release(
                "id in (?) and (select r.state from permit_request r where r.id = permit_request_id) = 'RELEASED'",
                channel);
    }

    private static String release(String which, @Nullable ReleaseChannel channel) {
        return RELEASE.formatted(which)
                + (channel == null ? "" : NOTIFICATION.formatted(channel.notification("s.name"), "p." + which));
    }

    /**
     * Executes the queued statements, sums the held permits of each semaphore, by id, and reads the database's clock. The sum is
     * a separate statement after the locks: in the locking statement it would use a snapshot from before the wait. It scans the
     * covering index from the low watermark of each semaphore. Entries of released permits, which cannot be purged while an old
     * snapshot is open, are below the watermark.
     */
    Map<Long, HeldSum> sumHeld(Collection<Long> semaphoreIds) {
        Map<List<Long>, Supplier<List<HeldSum>>> found = new HashMap<>();
        Sql.chunks(List.copyOf(semaphoreIds), MAX_SUMS).forEach(some -> found.put(some, queueSums(some)));
        sql.flush();
        Map<Long, HeldSum> sums = new HashMap<>();
        found.forEach((some, result) -> {
            List<HeldSum> read = result.get();
            read.forEach(sum -> sums.put(sum.semaphoreId(), sum));
            if (!read.isEmpty() && !sums.keySet().containsAll(some)) {
                LocalDateTime now = read.get(0).now(); // the same for all, by one statement
                some.forEach(id -> sums.putIfAbsent(id, new HeldSum(id, 0, false, 0, now)));
            }
        });
        return sums;
    }

    private Supplier<List<HeldSum>> queueSums(Collection<Long> semaphoreIds) {
        if (semaphoreIds.size() == 1) {
            long id = semaphoreIds.iterator().next();
            return sql.queryRows(SUM_OF_ONE, (row, number) -> sum(row, 1, id), id, id);
        }
        if (sql.hasArrays()) {
            return sql.queryRows(SUM_OF_EACH, (row, number) -> sum(row, 2, row.getLong(1)), semaphoreIds);
        }
        String each = String.join(" or ", Collections.nCopies(semaphoreIds.size(), "(" + HELD + ")"));
        return sql.queryRows(
                SUM_OF_MANY + each + BY_SEMAPHORE_AND_CLOCK,
                (row, number) -> sum(row, 2, row.getLong(1)),
                Stream.concat(semaphoreIds.stream().flatMap(id -> Stream.of(id, id)), Stream.of(semaphoreIds))
                        .toArray());
    }

    /** Queues the sum of the held permits of one semaphore after a grant, starting at a token below which nothing is held. */
    Supplier<List<HeldSum>> queueSumOfGranted(long id, long liveFrom) {
        return sql.queryRows(SUM_OF_GRANTED, (row, number) -> sum(row, 1, id), id, id, liveFrom);
    }

    /** Reads the columns of {@link #SUMS}, which begin at this index. */
    private static HeldSum sum(ResultSet row, int column, long semaphoreId) throws SQLException {
        return new HeldSum(
                semaphoreId,
                row.getLong(column),
                row.getInt(column + 1) > 0,
                row.getLong(column + 2),
                row.getObject(column + 3, LocalDateTime.class));
    }

    /** Returns the row of a held permit. */
    static List<@Nullable Object> row(StoredPermit permit, long requestId, boolean exclusive) {
        return Arrays.asList(
                permit.id(),
                permit.semaphoreId(),
                requestId,
                permit.count(),
                exclusive ? 1 : 0,
                PermitState.ACQUIRED.name(),
                permit.token());
    }

    void queueInsert(List<List<@Nullable Object>> rows) {
        sql.insert(INSERT, rows);
    }

    /**
     * Locks the held permits that no other transaction has locked. Returns the requests all of whose permits it has locked.
     *
     * @param permitIds the permits of each request, by its id
     */
    SortedMap<Long, List<Long>> lockSkipLocked(SortedMap<Long, List<Long>> permitIds) {
        Set<Long> all = idsOf(permitIds);
        return among(permitIds, all.isEmpty() ? List.of() : sql.read(LOCK_SKIP_LOCKED, Sql.ID, all));
    }

    /** Returns the requests all of whose permits are among these. */
    static SortedMap<Long, List<Long>> among(SortedMap<Long, List<Long>> permitIds, Collection<Long> ids) {
        Set<Long> locked = Set.copyOf(ids);
        SortedMap<Long, List<Long>> requests = new TreeMap<>(permitIds);
        requests.values().removeIf(its -> !locked.containsAll(its));
        return requests;
    }

    /** Returns the permits of requests, in the order in which all transactions lock. */
    static SortedSet<Long> idsOf(SortedMap<Long, List<Long>> permitIds) {
        return permitIds.values().stream().flatMap(List::stream).collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Queues a lock of the held permits among these. It {@linkplain io.dbsemaphore.jdbc.SqlErrorKind#LOCK_REFUSED fails} at once if another
     * transaction has locked one of them. The result is their ids.
     */
    Supplier<List<Long>> queueLock(Collection<Long> ids) {
        return sql.queryRows(LOCK_NOWAIT, Sql.ID, ids);
    }

    record NamedPermit(long requestId, long id, String name, int capacity, int count, long token, long semaphoreId) {}

    List<NamedPermit> findByRequests(Collection<Long> requestIds) {
        return sql.read(
                FIND_BY_REQUESTS,
                (row, number) -> new NamedPermit(
                        row.getLong(1),
                        row.getLong(2),
                        row.getString(3),
                        row.getInt(4),
                        row.getInt(5),
                        row.getLong(6),
                        row.getLong(7)),
                requestIds);
    }

    /** Finds the held permits of these requests, by request id. */
    SortedMap<Long, List<Long>> findHeld(Collection<Long> requestIds) {
        SortedMap<Long, List<Long>> held = new TreeMap<>();
        requestIds.forEach(id -> held.put(id, new ArrayList<>()));
        if (!held.isEmpty()) {
            sql.read(FIND_HELD, (row, number) -> Map.entry(row.getLong(2), row.getLong(1)), requestIds)
                    .forEach(permit -> held.computeIfAbsent(permit.getKey(), id -> new ArrayList<>())
                            .add(permit.getValue()));
        }
        return held;
    }

    List<Long> findRequestsHolding(Collection<Long> requestIds, Collection<Long> semaphoreIds) {
        return sql.read(FIND_REQUESTS_HOLDING, Sql.ID, requestIds, semaphoreIds);
    }

    /** Describes the longest holders of a semaphore, which have the lowest tokens: owner, instance, label, since when. */
    List<String> findFirstHolders(String name, int limit) {
        return sql.read(
                FIND_FIRST_HOLDERS,
                (row, number) -> row.getString(1)
                        + Optional.ofNullable(row.getString(2))
                                .map(instance -> " (instance " + instance + ")")
                                .orElse("")
                        + Optional.ofNullable(row.getString(3))
                                .map(label -> " for " + label)
                                .orElse("")
                        + " since " + StoredGrant.instant(row.getObject(4, LocalDateTime.class)),
                name,
                limit);
    }

    /** Queues the release of the held permits among these. The result is their number. */
    Supplier<Integer> queueRelease(Collection<Long> ids) {
        return ids.isEmpty() ? () -> 0 : queueRelease(release, ids);
    }

    /** Queues the release of the held permits of requests, including those of deleted semaphores. The result is their number. */
    Supplier<Integer> queueReleaseOf(Collection<Long> requestIds) {
        return queueRelease(releaseOfRequests, requestIds);
    }

    /** Queues the release of the held permits among these whose requests are released. The result is their number. */
    Supplier<Integer> queueReleaseOfReleased(Collection<Long> ids) {
        return queueRelease(releaseOfReleased, ids);
    }

    private Supplier<Integer> queueRelease(String statement, Collection<Long> ids) {
        return notifies ? sql.update(statement, ids, ids) : sql.update(statement, ids);
    }
}
