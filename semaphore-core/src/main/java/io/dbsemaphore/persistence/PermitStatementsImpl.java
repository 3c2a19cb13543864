package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.jdbc.StatementQueue;
import io.dbsemaphore.persistence.unit.HeldRows;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

final class PermitStatementsImpl extends HeldRows<Permit> implements PermitStatements {

    private final String requests;
    private final String heldOfOne;
    private final String sumOfOne;
    private final String sumOfMany;
    private final String clock;
    private final @Nullable String notification;

    PermitStatementsImpl(
            Sql sql,
            RowInsert<Permit> insert,
            Database database,
            String tablePrefix,
            @Nullable ReleaseChannel channel) {
        super(sql, insert, tablePrefix + "permit");
        this.requests = tablePrefix + "permit_request";
        String sums = "coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), coalesce(min(p.token), 0), "
                + database.utcNow();
        this.heldOfOne = "p.semaphore_id = ? and p.state = 'ACQUIRED' and p.token >= (select s.live_from from "
                + tablePrefix + "semaphore s where s.id = ?)";
        this.sumOfOne = "select " + sums + " from " + table + " p where " + heldOfOne;
        this.sumOfMany = "select p.semaphore_id, " + sums + " from " + table + " p where ";
        this.notification = channel == null
                ? null
                : " and (select count(" + channel.notification("s.name") + ") from " + tablePrefix
                        + "semaphore s where s.waiters_until > " + database.utcNow()
                        + " and s.id in (select p.semaphore_id from " + table + " p where ";
        this.clock = "select 0, 0, 0, 0, " + database.utcNow();
    }

    @Override
    public Map<Long, HeldSum> sumHeld(Collection<Long> semaphoreIds) {
        List<Long> ids = List.copyOf(semaphoreIds);
        Supplier<Map<Long, HeldSum>> sums = ids.isEmpty() ? Map::of : querySums(ids);
        StatementQueue queue = sql.queue();
        try {
            queue.flush();
        } catch (SQLException failure) {
            throw sql.failed(failure);
        }
        return sums.get();
    }

    private Supplier<Map<Long, HeldSum>> querySums(List<Long> ids) {
        List<Long> values = ids.stream().flatMap(id -> Stream.of(id, id)).toList();
        if (ids.size() == 1) {
            return sql.query(sumOfOne, values, rows -> {
                rows.next();
                return Map.of(ids.get(0), sum(rows, 1, ids.get(0)));
            });
        }
        String text = sumOfMany + Sql.repeat("(" + heldOfOne + ")", " or ", ids.size())
                + " group by p.semaphore_id union all " + clock;
        return sql.query(text, values, rows -> sums(rows, ids));
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

    @Override
    public void queueRelease(Collection<Long> ids) {
        release("id in " + Sql.placeholders(ids), ids);
    }

    @Override
    public void queueReleaseOf(long requestId) {
        release("permit_request_id = ?", List.of(requestId));
    }

    @Override
    public void queueReleaseOfReleased(Collection<Long> requestIds) {
        release(
                "permit_request_id in (select r.id from " + requests + " r where r.id in "
                        + Sql.placeholders(requestIds) + " and r.state = 'RELEASED')",
                requestIds);
    }

    private void release(String condition, Collection<Long> values) {
        String release = "update " + table + " set state = 'RELEASED' where " + condition + " and state = 'ACQUIRED'";
        if (notification == null) {
            sql.update(release, values);
        } else { // a condition that is always true: the notification costs no statement, and none where nobody waits
            List<Long> twice = new ArrayList<>(values);
            twice.addAll(values);
            sql.update(release + notification + "p." + condition + ")) >= 0", twice);
        }
    }
}
