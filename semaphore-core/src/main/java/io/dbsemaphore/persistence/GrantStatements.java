package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a grant whose text depends on how many orders are granted together.
 */
final class GrantStatements {

    private static final int MAX_ROWS = 500;

    private final Sql sql;
    private final String tablePrefix;
    private final String lock;
    private final String heldOfOne;
    private final String sumOfOne;
    private final String sumOfMany;
    private final String clock;

    GrantStatements(Sql sql, Database database, String tablePrefix) {
        this.sql = sql;
        this.tablePrefix = tablePrefix;
        this.lock = "select s.id, s.name, s.capacity, s.fence from " + tablePrefix + "semaphore s where s.id ";
        String held = "coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), coalesce(min(p.token), 0), "
                + database.utcNow();
        this.heldOfOne = "p.semaphore_id = ? and p.state = 'ACQUIRED' and p.token >= (select s.live_from from "
                + tablePrefix + "semaphore s where s.id = ?)";
        this.sumOfOne = "select " + held + " from " + tablePrefix + "permit p where " + heldOfOne;
        this.sumOfMany = "select p.semaphore_id, " + held + " from " + tablePrefix + "permit p where ";
        this.clock = "select 0, 0, 0, 0, " + database.utcNow();
    }

    /**
     * Locks one row, and waits for it, by the next round trip. One id per statement, in ascending order: a list of ids is
     * locked in the order of whatever index the optimizer chose, and rows that nobody asked for with it.
     */
    Result<List<LockedSemaphore>> lock(long id) {
        return sql.queueQuery(lock + "= ? for update", List.of(id), GrantStatements::semaphores);
    }

    /**
     * Locks those of the rows that nobody else has locked, by the next round trip; never waits, so that their order does not
     * matter.
     */
    Result<List<LockedSemaphore>> lockFree(Collection<Long> ids) {
        return sql.queueQuery(
                lock + "in " + Sql.placeholders(ids) + " order by s.id for update skip locked",
                ids,
                GrantStatements::semaphores);
    }

    private static List<LockedSemaphore> semaphores(ResultSet rows) throws SQLException {
        List<LockedSemaphore> semaphores = new ArrayList<>();
        while (rows.next()) {
            semaphores.add(new LockedSemaphore(rows.getLong(1), rows.getString(2), rows.getInt(3), rows.getLong(4)));
        }
        return semaphores;
    }

    /**
     * What is held of each of these semaphores, by id, and the database's clock; executes what is queued before. A
     * statement of its own, after the locks: a sum within the locking statement would be as old as the beginning of its
     * wait. By the covering index, and from the low watermark of each on: what was released while somebody keeps an old
     * snapshot open stays in the index, below the watermark.
     */
    Map<Long, HeldSum> sumHeld(Collection<Long> ids) {
        List<Long> all = List.copyOf(ids);
        List<Long> values = all.stream().flatMap(id -> Stream.of(id, id)).toList();
        return switch (all.size()) {
            case 0 -> {
                sql.flush();
                yield Map.of();
            }
            case 1 ->
                sql.query(sumOfOne, values, rows -> {
                    rows.next();
                    return Map.of(all.get(0), sum(rows, 1, all.get(0)));
                });
            default ->
                sql.query(
                        sumOfMany + Sql.repeat("(" + heldOfOne + ")", " or ", all.size())
                                + " group by p.semaphore_id union all " + clock,
                        values,
                        rows -> sums(rows, all));
        };
    }

    private static Map<Long, HeldSum> sums(ResultSet rows, List<Long> ids) throws SQLException {
        Map<Long, HeldSum> sums = new HashMap<>();
        LocalDateTime clock = LocalDateTime.MIN;
        while (rows.next()) {
            long id = rows.getLong(1);
            HeldSum sum = sum(rows, 2, id);
            clock = sum.now(); // of one instant, on all rows
            sums.put(id, sum);
        }
        LocalDateTime now = clock;
        ids.forEach(each -> sums.computeIfAbsent(each, id -> new HeldSum(id, 0, 0, 0, now)));
        return sums;
    }

    private static HeldSum sum(ResultSet row, int column, long semaphoreId) throws SQLException {
        return new HeldSum(
                semaphoreId,
                row.getLong(column),
                row.getInt(column + 1),
                row.getLong(column + 2),
                row.getObject(column + 3, LocalDateTime.class));
    }

    /**
     * Makes room for {@code by} tokens on rows that are locked, and moves their watermarks up to the lowest token that is
     * held.
     */
    void raiseFences(Map<Long, Long> liveFrom, int by, LocalDateTime now) {
        // ids and watermarks are numbers of our own, and as text they are of the column's type on every database
        String watermark = liveFrom.size() == 1
                ? String.valueOf(liveFrom.values().iterator().next())
                : liveFrom.entrySet().stream()
                        .map(entry -> " when " + entry.getKey() + " then " + entry.getValue())
                        .collect(Collectors.joining("", "case id", " end"));
        List<@Nullable Object> values = new ArrayList<>();
        values.add(by);
        values.add(now);
        values.addAll(liveFrom.keySet());
        sql.queueUpdate(
                "update " + tablePrefix + "semaphore set fence = fence + ?, updated_at = ?, live_from = " + watermark
                        + " where id in " + Sql.placeholders(liveFrom.keySet()),
                values);
    }

    void insertRequests(List<PermitRequest> requests) {
        insert(
                "permit_request",
                List.of(
                        "id",
                        "external_id",
                        "owner",
                        "instance",
                        "state",
                        "content_digest",
                        "ttl_millis",
                        "expires_at",
                        "renewed_at",
                        "created_at",
                        "updated_at"),
                requests,
                request -> row(
                        request.id(),
                        request.externalId(),
                        request.owner(),
                        request.instance(),
                        request.state().name(),
                        request.contentDigest(),
                        request.ttlMillis(),
                        request.expiresAt(),
                        request.createdAt(),
                        request.createdAt(),
                        request.createdAt()));
    }

    void insertPermits(List<Permit> permits) {
        insert(
                "permit",
                List.of("id", "semaphore_id", "permit_request_id", "count", "exclusive", "state", "token"),
                permits,
                permit -> row(
                        permit.id(),
                        permit.semaphoreId(),
                        permit.requestId(),
                        permit.count(),
                        permit.exclusive(),
                        permit.state().name(),
                        permit.token()));
    }

    /** Has what is queued executed. */
    void flush() {
        sql.flush();
    }

    private <E> void insert(
            String table, List<String> columns, List<E> rows, Function<E, List<@Nullable Object>> values) {
        String row = Sql.placeholders(columns);
        for (int from = 0; from < rows.size(); from += MAX_ROWS) {
            List<E> part = rows.subList(from, Math.min(from + MAX_ROWS, rows.size()));
            List<@Nullable Object> bound = new ArrayList<>(part.size() * columns.size());
            part.forEach(each -> bound.addAll(values.apply(each)));
            sql.queueUpdate(
                    "insert into " + tablePrefix + table + "(" + String.join(", ", columns) + ") values "
                            + Sql.repeat(row, ", ", part.size()),
                    bound);
        }
    }

    private static List<@Nullable Object> row(@Nullable Object... values) {
        List<@Nullable Object> row = new ArrayList<>();
        for (Object value : values) {
            row.add(value);
        }
        return row;
    }
}
