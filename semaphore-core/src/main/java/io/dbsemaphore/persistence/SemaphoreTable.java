package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PatternCapacity;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;

/**
 * The table of semaphores: the SQL of grants, of waiting callers, and of the start of an application. All methods except {@link #forget}
 * require an open transaction.
 *
 * <p>The ids of semaphores are cached by name. An id is never reused; a deleted semaphore is detected when its row cannot be locked.
 */
final class SemaphoreTable {

    /** As many as patterns may create by default: each name that is not cached costs a statement. */
    private static final int MAX_CACHED = 100_000;

    /** The fence starts at the database's clock, so that a semaphore that is deleted and created again has higher tokens than before. */
    private static final String INSERT = """
            insert into semaphore(id, name, capacity, fence, live_from, pattern, capacity_set_by, waiters_until, created_at, updated_at)
            values (?, ?, ?, epoch_micros(), 0, ?, ?, null, utc_now(), utc_now())""";

    private static final String LOCK =
            "select s.id, s.name, s.capacity, s.fence, s.waiters_until from semaphore s where s.id = ? for update";

    private static final String LOCK_SKIP_LOCKED = """
            select s.id, s.name, s.capacity, s.fence, s.waiters_until from semaphore s
            where s.id in (?) order by s.id for update skip locked""";

    private static final String RAISE_FENCES =
            "update semaphore set fence = fence + ?, updated_at = ?, live_from = ? where id in (?)";

    private static final String SET_AWAITED = "update semaphore set waiters_until = ? where id in (?)";

    private static final String STATUSES = """
            select s.name, s.capacity, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), count(p.id),
                (select coalesce(sum(w.waiting), 0) from semaphore_waiter w
                 where w.semaphore_id = s.id and w.expires_at > utc_now())
            from %s s left join permit p on p.semaphore_id = s.id and p.state = 'ACQUIRED'
            """;

    private static final String STATUS =
            STATUSES.formatted("semaphore") + "where s.name = ? group by s.id, s.name, s.capacity";

    /** Selects the rows before permits are counted, so that a page costs the same however many semaphores there are. */
    private static final String PAGE = """
            (select n.id, n.name, n.capacity from semaphore n
             where n.name > ? and (n.name like ? escape '!' or lower(n.name) like ? escape '!') order by n.name limit ?)""";

    private static final String STATUSES_OF_PAGE =
            STATUSES.formatted(PAGE) + "group by s.id, s.name, s.capacity order by s.name";

    /**
     * Makes three index look-ups for each semaphore, whose tokens grow with time. MySQL would scan the whole table for {@code order by
     * token limit 1}.
     */
    private static final String SINCE_OF_PAGE = """
            select s.name,
                (select min(w.since) from semaphore_waiter w
                 where w.semaphore_id = s.id and w.waiting > 0 and w.expires_at > utc_now()),
                (select min(r.created_at) from permit p join permit_request r on r.id = p.permit_request_id
                 where p.semaphore_id = s.id and p.state = 'ACQUIRED' and p.token =
                    (select min(h.token) from permit h where h.semaphore_id = s.id and h.state = 'ACQUIRED')),
                case when s.capacity = 0 then
                    (select c.from_capacity from capacity_change c
                     where c.semaphore_name = s.name and c.to_capacity = 0 and c.from_capacity > 0
                     order by c.changed_at desc, c.id desc limit 1) end
            from %s s order by s.name""".formatted(PAGE);

    private static final String FIND =
            "select s.id, s.name, s.capacity, s.fence, s.waiters_until, all_rows() from semaphore s where s.id in (?)";
    private static final String FIND_IDS = "select id, name, all_rows() from semaphore where name in (?)";
    private static final String FIND_NAMES = "select name from semaphore where pattern is null order by name limit ?";
    private static final String FIND_OF_ANY_PATTERN = "select id from semaphore where name = ? and pattern is not null";
    private static final String LEAVE_PATTERN = "update semaphore set pattern = null where id in (?)";
    private static final String COUNT_OF_PATTERNS = "select count(*) from semaphore where pattern is not null";

    /** Detaches a semaphore from its pattern: otherwise it would be deleted when nobody acquires it, which would end a pause. */
    private static final String UPDATE_CAPACITY =
            "update semaphore set capacity = ?, fence = fence + 1, pattern = null, capacity_set_by = ?, updated_at = utc_now() where id = ?";

    /** Does not change {@code updated_at}, by which idle semaphores of patterns are deleted. */
    private static final String UPDATE_CAPACITIES =
            "update semaphore set capacity = ?, fence = fence + 1, capacity_set_by = ? where id in (?)";

    private static final String OF_PATTERNS =
            "select s.id, s.name, s.capacity, s.capacity_set_by from semaphore s where s.pattern is not null and s.id";

    private static final String FIND_OF_PATTERNS = OF_PATTERNS + " > ? order by s.id limit ?";
    private static final String FIND_OTHERS_OF_PATTERNS = OF_PATTERNS + """
             > ? and s.name like ? escape '!' and s.capacity <> ? and (s.capacity_set_by is null or s.capacity_set_by <> ?)
            order by s.id limit ?""";
    private static final String LOCK_OF_PATTERNS = OF_PATTERNS + " in (?) order by s.id for update";

    private final Sql sql;
    private final BooleanSupplier hasRepositories;
    private final Supplier<SemaphoreRepository> rows;
    private final Map<String, Long> idsByName = new ConcurrentHashMap<>();

    /**
     * Creates the table.
     *
     * @param hasRepositories whether Hibernate has been started, so that repositories can be used
     */
    SemaphoreTable(Sql sql, BooleanSupplier hasRepositories, Supplier<SemaphoreRepository> rows) {
        this.sql = sql;
        this.hasRepositories = hasRepositories;
        this.rows = rows;
    }

    SemaphoreRepository rows() {
        return rows.get();
    }

    /**
     * Locks a row, and waits for it. If the driver pipelines, or until Hibernate has been started, SQL takes the lock in the next round
     * trip; otherwise, the repository's {@code @Lock(PESSIMISTIC_WRITE)} query does. Callers lock one row per statement, in ascending order
     * of ids: an IN-list locks in the order of the index that the optimizer chooses, and may lock other rows.
     *
     * @return the row; none if it was deleted
     */
    Supplier<List<LockedSemaphore>> lock(long id) {
        if (isLockedBySql()) {
            sql.flush(); // at most one wait per round trip
            return sql.queryRows(LOCK, SemaphoreTable::locked, id);
        }
        List<LockedSemaphore> locked =
                rows().lockById(id).map(Semaphore::toLocked).stream().toList();
        return () -> locked;
    }

    /** Queues the lock of a row, by SQL. If another transaction has locked the row, the statement waits, or fails at once. */
    Supplier<List<LockedSemaphore>> queueLock(long id, boolean waits) {
        return sql.queryRows(waits ? LOCK : LOCK + " nowait", SemaphoreTable::locked, id);
    }

    /** Locks the rows that no other transaction has locked, by SQL or the repository, as in {@link #lock}. */
    Supplier<List<LockedSemaphore>> lockSkipLocked(Collection<Long> ids) {
        if (isLockedBySql()) {
            return sql.queryRows(LOCK_SKIP_LOCKED, SemaphoreTable::locked, ids);
        }
        List<LockedSemaphore> locked =
                rows().lockSkipLocked(ids).stream().map(Semaphore::toLocked).toList();
        return () -> locked;
    }

    private boolean isLockedBySql() {
        return sql.isPipelined() || !hasRepositories.getAsBoolean();
    }

    private static LockedSemaphore locked(ResultSet row, int number) throws SQLException {
        return new LockedSemaphore(
                row.getLong(1), row.getString(2), row.getInt(3), row.getLong(4), row.getObject(5, LocalDateTime.class));
    }

    /**
     * Queues an update of locked rows, which reserves tokens and raises the watermarks to the lowest held token.
     *
     * @param liveFrom the lowest held token, by semaphore id
     * @param by the number of tokens, by semaphore id
     */
    void queueRaiseFences(SortedMap<Long, Long> liveFrom, SortedMap<Long, Long> by, LocalDateTime now) {
        sql.update(RAISE_FENCES, new Sql.ById(by), now, new Sql.ById(liveFrom), liveFrom.keySet());
    }

    /** Queues an update of locked rows, which records until when callers may be waiting. */
    void queueAwaited(Collection<Long> ids, LocalDateTime until) {
        sql.update(SET_AWAITED, until, ids);
    }

    /** Returns the names of the existing semaphores among these, by id. */
    SortedMap<Long, String> byId(Collection<String> names) {
        SortedMap<Long, String> byId = new TreeMap<>();
        Set<String> unknown = new HashSet<>();
        for (String name : names) {
            Long id = idsByName.get(name);
            if (id == null) {
                unknown.add(name);
            } else {
                byId.put(id, name);
            }
        }
        if (!unknown.isEmpty()) {
            sql.flush(); // first: if a lock is refused, the piggy-backed releases begin again in this transaction
            Map<String, Long> found = findIds(unknown);
            if (idsByName.size() > MAX_CACHED) {
                idsByName.clear();
            }
            idsByName.putAll(found);
            found.forEach((name, id) -> byId.put(id, name));
        }
        return byId;
    }

    /** Reads the ids of the existing semaphores among these from the database. */
    Map<String, Long> findIds(Collection<String> names) {
        return sql.read(FIND_IDS, (row, number) -> Map.entry(row.getString(2), row.getLong(1)), names).stream()
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** Reads the id of a semaphore from the database instead of the cache, because it may have just been created. */
    Optional<Long> findId(String name) {
        return Optional.ofNullable(findIds(List.of(name)).get(name));
    }

    /** Finds the first names in alphabetical order, except those of pattern-created semaphores. */
    List<String> findNames(int limit) {
        return sql.read(FIND_NAMES, (row, number) -> row.getString(1), limit);
    }

    /** Detaches a semaphore from the pattern that may have created it. */
    void leavePattern(String name) {
        List<Long> ids = sql.read(FIND_OF_ANY_PATTERN, Sql.ID, name);
        if (!ids.isEmpty()) {
            sql.update(LEAVE_PATTERN, ids);
        }
    }

    long countOfPatterns() {
        return sql.read(COUNT_OF_PATTERNS, (row, number) -> row.getLong(1)).get(0);
    }

    /** Queues a read of these rows without a lock. */
    Supplier<List<LockedSemaphore>> find(Collection<Long> ids) {
        return ids.isEmpty() ? List::of : sql.queryRows(FIND, SemaphoreTable::locked, ids);
    }

    /** Queues the change of a capacity by hand. */
    void queueUpdateCapacity(long id, int capacity, String setBy) {
        sql.update(UPDATE_CAPACITY, capacity, setBy, id);
    }

    /** Queues the change of the capacities of locked semaphores, which stay with their patterns. */
    void queueUpdateCapacities(Collection<Long> ids, int capacity, String setBy) {
        sql.update(UPDATE_CAPACITIES, capacity, setBy, ids);
    }

    /** Finds the next semaphores of patterns, by id. */
    List<PatternCapacity> findOfPatterns(long afterId, int limit) {
        return sql.read(FIND_OF_PATTERNS, SemaphoreTable::ofPattern, afterId, limit);
    }

    /**
     * Finds the next semaphores of patterns, by id, whose name matches a glob and whose capacity is not this one, nor set by a provider.
     */
    List<PatternCapacity> findOfPatterns(String glob, int otherThan, long afterId, int limit) {
        return sql.read(
                FIND_OTHERS_OF_PATTERNS,
                SemaphoreTable::ofPattern,
                afterId,
                escaped(glob).replace('*', '%'),
                otherThan,
                PatternCapacity.PROVIDER,
                limit);
    }

    /** Locks the semaphores among these that belong to patterns. Waits for a single one; skips locked ones among several. */
    List<PatternCapacity> lockOfPatterns(Collection<Long> ids) {
        String locking = ids.size() == 1 ? LOCK_OF_PATTERNS : LOCK_OF_PATTERNS + " skip locked";
        return sql.read(locking, SemaphoreTable::ofPattern, ids);
    }

    private static PatternCapacity ofPattern(ResultSet row, int number) throws SQLException {
        return new PatternCapacity(row.getLong(1), row.getString(2), row.getInt(3), row.getString(4));
    }

    /** Removes from the cache semaphores that may have been deleted. */
    void forget(Collection<Long> ids) {
        idsByName.values().removeAll(ids);
    }

    /** Inserts rows of id, name, capacity, pattern (null if created by hand), and who set the capacity (null if nobody). */
    void insert(List<List<@Nullable Object>> rows) {
        sql.insert(INSERT, rows);
        sql.flush();
    }

    Optional<SemaphoreStatus> findStatus(String name) {
        return sql.read(STATUS, SemaphoreTable::status, name).stream().findFirst();
    }

    /** Reads a page of the statuses of semaphores whose names contain a text, by name. */
    List<SemaphoreStatus> findStatuses(String containing, String afterName, int limit) {
        return readPage(STATUSES_OF_PAGE, SemaphoreTable::status, containing, afterName, limit);
    }

    /** Reads since when callers wait and permits are held, for the same semaphores. */
    List<Since> findSince(String containing, String afterName, int limit) {
        return readPage(SINCE_OF_PAGE, SemaphoreTable::since, containing, afterName, limit);
    }

    private <T> List<T> readPage(String statement, RowMapper<T> row, String containing, String afterName, int limit) {
        String like = "%" + escaped(containing) + "%";
        return sql.read(statement, row, afterName, like, like.toLowerCase(Locale.ROOT), limit);
    }

    private static Since since(ResultSet row, int number) throws SQLException {
        int paused = row.getInt(4);
        return new Since(
                row.getString(1),
                instant(row.getObject(2, LocalDateTime.class)),
                instant(row.getObject(3, LocalDateTime.class)),
                paused == 0 ? Optional.empty() : Optional.of(paused));
    }

    private static Optional<Instant> instant(@Nullable LocalDateTime time) {
        return Optional.ofNullable(time).map(StoredGrant::instant);
    }

    /** Escapes a text for a pattern of {@code like ? escape '!'}. */
    private static String escaped(String text) {
        return text.replaceAll("[!%_]", "!$0");
    }

    private static SemaphoreStatus status(ResultSet row, int number) throws SQLException {
        int capacity = row.getInt(2);
        long held = row.getLong(3);
        boolean exclusive = row.getInt(4) > 0;
        return new SemaphoreStatus(
                row.getString(1),
                capacity,
                held,
                exclusive ? 0 : Math.max(0, capacity - held),
                row.getLong(5),
                row.getLong(6));
    }
}
