package io.dbsemaphore.persistence;

import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.ShareTags.Finish;
import io.dbsemaphore.line.WaitersElsewhere;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The table of the {@linkplain ShareTags tags} of a semaphore with shares. One row has the time of the line, another each tenant and key
 * whose finish is ahead of its time. Who has locked the semaphore's row reads and writes them; a poll only reads.
 *
 * <p>The first {@link #AT_ONCE} rows are read by one statement, which is usually all of them. If there are more, a second statement reads
 * those of the callers that are compared. After each {@link #SWEPT_AFTER} rows that were written, the first one goes on from where the last
 * ended: it finds the rows that are no longer ahead, which the transaction deletes. Among so many rows, a key that is ahead and does not wait
 * is not known: until it returns, grants of other keys of its tenant may not count between keys.
 *
 * <p>If nobody else was granted permits since the last transaction of this instance, it knows the rows, and does not read them: each
 * transaction that writes rows raises the fence of the semaphore.
 *
 * <p>All methods require an open transaction.
 */
final class ShareTable {

    /** The number of rows that are read whatever callers there are. */
    private static final int AT_ONCE = 64;

    /** The number of written rows after which the next {@link #AT_ONCE} rows are read: with small batches, more may be deleted than written. */
    private static final int SWEPT_AFTER = AT_ONCE / 4;

    /** Keys without bound may leave a row for each grant. Beyond this number, only those of {@link #KEPT_OF_MANY} are kept. */
    private static final int MAX_ROWS = 100_000;

    private static final Duration KEPT_OF_MANY = Duration.ofMinutes(10);

    /** The row of the time of the line. No share has this path: those of rows contain a separator. */
    private static final String LINE = "*";

    private static final String COLUMNS = "w.share_path, w.finish, w.own_finish, w.keys_time, w.updated_at";

    private static final String FIND_NEXT = """
            select %1$s, all_rows() from (select %1$s from semaphore_share w
            where w.semaphore_id = ? and w.share_path > ? order by w.share_path limit ?) w""".formatted(COLUMNS);

    private static final String FIND = "select " + COLUMNS
            + ", all_rows() from semaphore_share w where w.semaphore_id = ? and w.share_path in (?)";

    private static final String DELETE = "delete from semaphore_share where semaphore_id = ? and share_path in (?)";

    private static final String INSERT = """
            insert into semaphore_share(semaphore_id, share_path, finish, own_finish, keys_time, updated_at)
            values (?, ?, ?, ?, ?, ?)""";

    /** Rows that have not been written for this time are deleted. */
    private static final Duration KEPT_FOR = Duration.ofDays(1);

    /** For an IN-list of more than 200 values, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int PATHS_AT_ONCE = 100;

    private static final String DELETE_OF = "delete from semaphore_share where semaphore_id = ?";

    /** Leaves the row of a semaphore itself as long as other rows, whose numbers continue from it, are written. */
    private static final String FIND_OLD = """
            select h.semaphore_id, h.share_path from semaphore_share h
            where h.updated_at <= utc_plus_millis(?) and (h.share_path <> '*' or not exists (
                select 1 from semaphore_share y
                where y.semaphore_id = h.semaphore_id and y.updated_at > utc_plus_millis(?)))
            order by h.updated_at limit ?""";

    private static final String DELETE_OLD = """
            delete from semaphore_share
            where semaphore_id = ? and share_path in (?) and updated_at <= utc_plus_millis(?)""";

    /** The number of semaphores whose rows are kept in memory. */
    private static final int MAX_KNOWN = 1_000;

    private final Sql sql;

    /** The rows after this instance's last transaction, by semaphore. A transaction takes them out, and puts them back when it commits. */
    private final Map<Long, Known> known = new ConcurrentHashMap<>();

    /** Where the next transaction goes on reading, by semaphore; missing if it begins with the first row. */
    private final Map<Long, Cursor> cursors = new ConcurrentHashMap<>();

    /**
     * How far the rows of a semaphore have been read.
     *
     * @param path the path of the last row
     * @param rows the number of rows that were read since the first one
     * @param all the number of all rows when they were read before
     * @param written the number of rows that were written since
     */
    private record Cursor(String path, int rows, int all, int written) {

        private boolean isOfMany() {
            return !path.isEmpty() || all > AT_ONCE;
        }

        private boolean isDue() {
            return !isOfMany() || written >= SWEPT_AFTER;
        }
    }

    private static final Cursor FROM_THE_FIRST = new Cursor("", 0, 0, 0);

    /**
     * All rows of a semaphore.
     *
     * @param rows in the order of their paths
     * @param fence the fence of the semaphore at which they are those of the table
     * @param isLikely whether the next transaction is likely to find this fence
     */
    private record Known(List<Row> rows, long fence, boolean isLikely) {}

    ShareTable(Sql sql) {
        this.sql = sql;
    }

    private record Row(String path, Finish finish, LocalDateTime updatedAt) {

        private static Row of(ResultSet row, int number) throws SQLException {
            return new Row(
                    row.getString(1),
                    new Finish(row.getLong(2), row.getLong(3), row.getLong(4)),
                    row.getObject(5, LocalDateTime.class));
        }

        private boolean isOfLine() {
            return path.equals(LINE);
        }

        private Share share() {
            int end = path.indexOf(Share.SEPARATOR);
            return new Share(path.substring(0, Math.max(0, end)), path.substring(end + 1));
        }
    }

    private static String pathOf(Share share) {
        return share.tenant() + Share.SEPARATOR + share.key();
    }

    private static String pathOf(String tenant) {
        return tenant + Share.SEPARATOR;
    }

    private static Set<String> pathsOf(Collection<Share> shares) {
        Set<String> paths = new TreeSet<>(Set.of(LINE));
        for (Share share : shares) {
            paths.add(pathOf(share.tenant()));
            paths.add(pathOf(share));
        }
        return paths;
    }

    /**
     * Returns the rows that one transaction reads and writes.
     *
     * @param isLocked whether the transaction locks the rows of the semaphores; otherwise it only reads
     */
    Rows rows(boolean isLocked) {
        return new Rows(isLocked);
    }

    /** The shares of these callers. */
    static Set<Share> sharesOf(LineHead here, WaitersElsewhere elsewhere) {
        Set<Share> shares = new HashSet<>();
        here.first().forEach(waiter -> shares.add(waiter.share()));
        elsewhere.queues().forEach(queue -> queue.first().forEach(waiter -> shares.add(waiter.share())));
        return shares;
    }

    /** The rows that one transaction reads and writes. */
    final class Rows {

        private final boolean isLocked;
        private final Map<Long, Expected> expected = new HashMap<>();
        private final Map<Long, Known> taken = new HashMap<>();
        private final Set<Long> unread = new HashSet<>();
        private final Map<Long, List<Row>> after = new HashMap<>();
        private final Map<Long, Set<String>> found = new HashMap<>();
        private final Map<Long, List<Row>> swept = new HashMap<>();
        private final Map<Long, Long> timeBefore = new HashMap<>();

        private Rows(boolean isLocked) {
            this.isLocked = isLocked;
        }

        /**
         * The results of two queries.
         *
         * @param next the rows that follow the cursor
         * @param paths the paths of the other rows, if not all are among the first
         */
        private record Expected(
                Cursor from, Supplier<List<Row>> next, Set<String> paths, Supplier<List<Row>> ofPaths) {}

        /**
         * Queues the queries of the rows that the transaction needs, unless they are likely to be known, to save a round trip.
         *
         * @param shares those of this instance's callers
         */
        void expect(long semaphoreId, Collection<Share> shares) {
            Known last = isLocked ? known.remove(semaphoreId) : null;
            if (last != null) {
                taken.put(semaphoreId, last);
            }
            Known present = taken.get(semaphoreId);
            if (present == null || !present.isLikely()) {
                expected.computeIfAbsent(semaphoreId, id -> query(id, shares));
            }
        }

        private Expected query(long semaphoreId, Collection<Share> shares) {
            Cursor from = begun(semaphoreId);
            Set<String> paths = from.isOfMany() ? pathsOf(shares) : Set.of();
            return new Expected(
                    from,
                    !from.isOfMany() || (isLocked && from.isDue())
                            ? sql.queryRows(FIND_NEXT, Row::of, semaphoreId, from.path(), AT_ONCE + 1)
                            : List::of,
                    paths,
                    find(semaphoreId, paths));
        }

        private Supplier<List<Row>> find(long semaphoreId, Set<String> paths) {
            List<Supplier<List<Row>>> found = new ArrayList<>();
            Sql.chunks(List.copyOf(paths), PATHS_AT_ONCE)
                    .forEach(some -> found.add(sql.queryRows(FIND, Row::of, semaphoreId, some)));
            return () -> found.stream().flatMap(each -> each.get().stream()).toList();
        }

        private Expected firstRows(long semaphoreId, long fence, Collection<Share> shares) {
            Known last = taken.get(semaphoreId);
            if (last != null && last.fence() == fence) {
                unread.add(semaphoreId);
                return new Expected(FROM_THE_FIRST, last::rows, Set.of(), List::of);
            }
            Expected queried = expected.computeIfAbsent(semaphoreId, id -> query(id, shares));
            sql.flush();
            return queried;
        }

        /**
         * Reads the tags of these shares of a semaphore.
         *
         * @param fence the fence of the semaphore
         */
        ShareTags read(long semaphoreId, long fence, Collection<Share> shares) {
            expect(semaphoreId, shares);
            Expected read = firstRows(semaphoreId, fence, shares);
            Cursor from = read.from();
            List<Row> first = read.next().get();
            boolean isAll = !from.isOfMany() && first.size() <= AT_ONCE;
            List<Row> rows = new ArrayList<>(first);
            if (!isAll) {
                rows.addAll(read.ofPaths().get());
                Set<String> paths = pathsOf(shares);
                paths.removeAll(read.paths());
                if (!paths.isEmpty()) {
                    Supplier<List<Row>> others = find(semaphoreId, paths);
                    sql.flush();
                    rows.addAll(others.get());
                }
            }
            if (isLocked && from.isDue()) { // what follows is read by the next transaction that can delete it
                if (first.size() > AT_ONCE) {
                    cursors.put(
                            semaphoreId,
                            new Cursor(first.get(AT_ONCE - 1).path(), from.rows() + AT_ONCE, from.all(), 0));
                } else if (isAll) {
                    cursors.remove(semaphoreId);
                } else {
                    cursors.put(semaphoreId, new Cursor("", 0, from.rows() + first.size(), 0));
                }
            }
            ShareTags tags = new ShareTags();
            rows.forEach(row -> {
                if (row.isOfLine()) {
                    boolean unused = tags.setTime(row.finish().finish());
                } else if (row.share().key().isEmpty()) {
                    tags.setTenant(row.share().tenant(), row.finish());
                } else {
                    tags.setKey(row.share(), row.finish().finish());
                }
            });
            if (tags.isWornOut()) { // rather than overflow some day, all begin again
                if (isLocked) {
                    deleteOf(List.of(semaphoreId));
                }
                rows.clear();
                tags.clear();
            }
            timeBefore.put(semaphoreId, rows.stream().anyMatch(Row::isOfLine) ? tags.time() : -1);
            Set<String> paths = new TreeSet<>();
            rows.forEach(row -> paths.add(row.path()));
            found.put(semaphoreId, paths);
            swept.put(semaphoreId, first.stream().limit(AT_ONCE).toList());
            if (isAll) {
                after.put(semaphoreId, rows);
            }
            for (Share share : shares) { // what has no row is not ahead
                tags.know(share);
            }
            return tags;
        }

        /**
         * Queues the statements that write tags after a decision: those that have changed, and the deletion of rows that were read and are
         * not ahead. A tenant's row stays as long as those of its keys, which follow it.
         */
        void write(long semaphoreId, ShareTags tags, LocalDateTime now) {
            Set<String> read = found.getOrDefault(semaphoreId, Set.of());
            Map<String, Finish> changed = new TreeMap<>();
            tags.changed().forEach(share -> {
                changed.put(pathOf(share.tenant()), tags.tenant(share.tenant()));
                if (!share.key().isEmpty()) {
                    changed.put(pathOf(share), new Finish(tags.key(share), 0, 0));
                }
            });
            if (tags.time() != timeBefore.getOrDefault(semaphoreId, -1L)) {
                changed.put(LINE, new Finish(tags.time(), 0, 0));
            }
            Set<String> deleted = new TreeSet<>(changed.keySet());
            deleted.retainAll(read);
            boolean areTooMany = begun(semaphoreId).all() > MAX_ROWS;
            String needed = null;
            List<Row> rowsRead = new ArrayList<>(swept.getOrDefault(semaphoreId, List.of()));
            Collections.reverse(rowsRead); // the keys of a tenant before the tenant
            boolean isLast = rowsRead.size() == AT_ONCE; // the rows of its keys may follow
            for (Row row : rowsRead) {
                boolean isOfNeeded = needed != null && needed.startsWith(row.path());
                boolean isNeeded =
                        isAhead(row, tags) && !(areTooMany && row.updatedAt().isBefore(now.minus(KEPT_OF_MANY)));
                if (isLast || isOfNeeded || isNeeded || changed.containsKey(row.path()) || row.isOfLine()) {
                    needed = row.path();
                } else {
                    deleted.add(row.path());
                }
                isLast = false;
            }
            Sql.chunks(List.copyOf(deleted), PATHS_AT_ONCE).forEach(some -> sql.update(DELETE, semaphoreId, some));
            List<List<@Nullable Object>> rows = new ArrayList<>();
            changed.forEach((path, finish) ->
                    rows.add(List.of(semaphoreId, path, finish.finish(), finish.ownFinish(), finish.keysTime(), now)));
            if (!rows.isEmpty()) {
                sql.insert(INSERT, rows);
            }
            cursors.computeIfPresent(
                    semaphoreId,
                    (id, from) -> new Cursor(from.path(), from.rows(), from.all(), from.written() + rows.size()));
            after.computeIfPresent(semaphoreId, (id, before) -> {
                SortedMap<String, Row> all = new TreeMap<>();
                before.stream().filter(row -> !deleted.contains(row.path())).forEach(row -> all.put(row.path(), row));
                changed.forEach((path, finish) -> all.put(path, new Row(path, finish, now)));
                return List.copyOf(all.values());
            });
        }

        /**
         * Keeps the rows that were read and written, after the commit.
         *
         * @param fence the fence of the semaphore after the transaction
         * @param isAlone whether callers wait in no other instance
         */
        void keep(long semaphoreId, long fence, boolean isAlone) {
            List<Row> rows = after.getOrDefault(semaphoreId, List.of());
            if (after.containsKey(semaphoreId) && rows.size() <= AT_ONCE) {
                if (known.size() >= MAX_KNOWN) {
                    known.clear();
                }
                known.put(semaphoreId, new Known(rows, fence, isAlone && unread.contains(semaphoreId)));
            }
        }

        private static boolean isAhead(Row row, ShareTags tags) {
            Share share = row.share();
            Finish tenant = tags.tenant(share.tenant());
            return share.key().isEmpty()
                    ? tenant.finish() > tags.time() || tenant.ownFinish() > tenant.keysTime()
                    : tags.key(share) > tenant.keysTime();
        }
    }

    private Cursor begun(long semaphoreId) {
        return cursors.getOrDefault(semaphoreId, FROM_THE_FIRST);
    }

    /** Queues the deletion of all rows of these semaphores. */
    void deleteOf(Collection<Long> semaphoreIds) {
        new TreeSet<>(semaphoreIds).forEach(id -> {
            sql.update(DELETE_OF, id);
            cursors.remove(id);
        });
    }

    /** Deletes one batch of rows that have not been written for a day. Returns how many. */
    int deleteOld(int limit) {
        long minusMillis = -KEPT_FOR.toMillis();
        SortedMap<Long, List<String>> old = new TreeMap<>();
        sql.read(
                        FIND_OLD,
                        (row, number) -> Map.entry(row.getLong(1), row.getString(2)),
                        minusMillis,
                        minusMillis,
                        limit)
                .forEach(each -> old.computeIfAbsent(each.getKey(), id -> new ArrayList<>())
                        .add(each.getValue()));
        List<Supplier<Integer>> deleted = new ArrayList<>();
        old.forEach((id, paths) -> Sql.chunks(paths.stream().sorted().toList(), PATHS_AT_ONCE)
                .forEach(some -> deleted.add(sql.update(DELETE_OLD, id, some, minusMillis))));
        sql.flush();
        return deleted.stream().mapToInt(Supplier::get).sum();
    }
}
