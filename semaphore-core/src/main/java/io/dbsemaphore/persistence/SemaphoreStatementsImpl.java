package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.RowMapperResultSetExtractor;

final class SemaphoreStatementsImpl implements SemaphoreStatements {

    private static final ResultSetExtractor<List<LockedSemaphore>> SEMAPHORES =
            new RowMapperResultSetExtractor<>((row, number) -> new LockedSemaphore(
                    row.getLong(1),
                    row.getString(2),
                    row.getInt(3),
                    row.getLong(4),
                    row.getObject(5, LocalDateTime.class)));

    private final Sql sql;
    private final String table;
    private final String lock;

    SemaphoreStatementsImpl(Sql sql, String tablePrefix) {
        this.sql = sql;
        this.table = tablePrefix + "semaphore";
        this.lock = "select s.id, s.name, s.capacity, s.fence, s.waiters_until from " + table + " s where s.id ";
    }

    @Override
    public boolean areOneRoundTrip() {
        return sql.queue().isOneRoundTrip();
    }

    @Override
    public Supplier<List<LockedSemaphore>> queueLockById(long id) {
        return sql.query(lock + "= ? for update", List.of(id), SEMAPHORES);
    }

    @Override
    public Supplier<List<LockedSemaphore>> queueLockSkipLocked(Collection<Long> ids) {
        return sql.query(
                lock + "in " + Sql.placeholders(ids) + " order by s.id for update skip locked", ids, SEMAPHORES);
    }

    @Override
    public void sendQueued() {
        sql.flush();
    }

    @Override
    public void queueRaiseFences(Map<Long, Long> liveFrom, int by, LocalDateTime now) {
        // one text for every semaphore, which a server that prepares statements knows; in a case they are literals, since only
        // these have the column's type on every database
        boolean isOne = liveFrom.size() == 1;
        String watermark = isOne
                ? "?"
                : liveFrom.entrySet().stream()
                        .map(entry -> " when " + entry.getKey() + " then " + entry.getValue())
                        .collect(Collectors.joining("", "case id", " end"));
        List<@Nullable Object> values = new ArrayList<>();
        values.add(by);
        values.add(now);
        if (isOne) {
            values.addAll(liveFrom.values());
        }
        values.addAll(liveFrom.keySet());
        sql.update(
                "update " + table + " set fence = fence + ?, updated_at = ?, live_from = " + watermark + " where id in "
                        + Sql.placeholders(liveFrom.keySet()),
                values);
    }
}
