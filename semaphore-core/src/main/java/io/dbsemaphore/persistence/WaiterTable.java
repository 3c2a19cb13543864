package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.LineLimit;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The table by which the instances tell one another who waits for permits, so that the callers of all instances are served in one
 * order. It has one row for each instance and semaphore, with the callers that are next. A row is valid for
 * {@link #VALID_FOR}, and is confirmed before it expires.
 *
 * <p>A batch has locked the rows of its semaphores. For semaphores that callers may be waiting for, it reads the rows of all instances, and
 * inserts, updates or deletes those of its own instance ({@link Rows#write}). A semaphore that nobody waits for costs no statement: its row
 * says until when callers may be waiting. A poll has locked nothing. It confirms the rows of its instance, updates them if the queue has
 * changed ({@link Rows#confirm}), and inserts none.
 *
 * <p>A transaction that locks several rows locks them one by one, in ascending order of semaphore ids, or without waiting for others. All
 * methods require an open transaction.
 */
record WaiterTable(Sql sql, SemaphoreTable semaphores) {

    /** How long a row is valid without being confirmed. An instance that is gone delays the others for this time. */
    private static final Duration VALID_FOR = Duration.ofMillis(1_200);

    /** If only one instance waits, its batches update its row when the row is valid for less than this. */
    private static final Duration MIN_VALID_IN_BATCH = Duration.ofMillis(700);

    /** When valid for less than this, a row that batches update is confirmed by polls. Less than above, so that batches come first. */
    private static final Duration MIN_VALID_IN_FLIGHT = Duration.ofMillis(600);

    /** Polls confirm other rows when they are valid for less than this. */
    private static final Duration MIN_VALID_IN_POLL = Duration.ofMillis(900);

    /** How long the row of a semaphore says that callers may be waiting. */
    private static final Duration AWAITED_FOR = Duration.ofSeconds(10);

    private static final String FIND = """
            select w.semaphore_id, w.instance, w.since, w.first_waiters, w.waiters, w.waiting, w.expires_at, w.shares, all_rows()
            from semaphore_waiter w where w.semaphore_id in (?)""";

    private static final String INSERT = """
            insert into semaphore_waiter(semaphore_id, instance, owner, since, waiting, first_waiters, waiters, shares,
                expires_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    private static final String UPDATE = """
            update semaphore_waiter set since = ?, waiting = ?, first_waiters = ?, waiters = ?, shares = ?, expires_at = ?
            where semaphore_id = ? and instance = ?""";

    private static final String DELETE = "delete from semaphore_waiter where semaphore_id = ? and instance = ?";

    private static final String MARK = """
            insert into semaphore_waiter(semaphore_id, instance, owner, since, waiting, first_waiters, expires_at)
            values (?, ?, ?, utc_now(), 0, '-', utc_plus_millis(?))""";

    private static final String MARK_AGAIN =
            "update semaphore_waiter set expires_at = utc_plus_millis(?) where semaphore_id = ? and instance = ?";

    /** Skips rows that another transaction has locked. */
    private static final String LOCK_SKIP_LOCKED = """
            select semaphore_id from semaphore_waiter where instance = ? and semaphore_id in (?) for update skip locked""";

    private static final String CONFIRM =
            "update semaphore_waiter set expires_at = ? where instance = ? and semaphore_id in (?)";

    private static final String FIND_OF_INSTANCE =
            "select semaphore_id, all_rows() from semaphore_waiter where instance = ?";

    /** Returns the rows that one transaction reads and writes, given the waiting callers of this instance. */
    Rows queues(OwnLines local) {
        return new Rows(local);
    }

    /** Records that callers wait for these semaphores, whose rows are locked. */
    void extend(Collection<Long> semaphoreIds, LocalDateTime now) {
        semaphores.queueAwaited(semaphoreIds, now.plus(AWAITED_FOR));
    }

    /**
     * Marks a semaphore because a caller of this instance was refused. The mark is a row without callers, under the negative id of the
     * instance. Nothing is withheld for it, and only instances that keep idle permits look for it. Its text is not empty, because some
     * modes of a database make that null.
     */
    void mark(long semaphoreId, long instance, String owner, Duration validFor) {
        long millis = validFor.toMillis();
        if (sql.execute(MARK_AGAIN, millis, semaphoreId, -instance) == 0) {
            sql.update(MARK, semaphoreId, -instance, owner, millis);
        }
    }

    void delete(long instance, Collection<Long> semaphoreIds) {
        new TreeSet<>(semaphoreIds).forEach(id -> sql.update(DELETE, id, instance));
    }

    void deleteAll(long instance) {
        delete(instance, sql.read(FIND_OF_INSTANCE, Sql.ID, instance));
    }

    private static RecordedHead queue(ResultSet row, int number) throws SQLException {
        return WaiterCodec.decode(
                row.getLong(1),
                row.getLong(2),
                new WaiterCodec.Texts(row.getString(4), row.getString(5), row.getString(8)),
                Place.micros(row.getObject(3, LocalDateTime.class)),
                row.getInt(6),
                row.getObject(7, LocalDateTime.class));
    }

    /** The rows that one transaction reads and writes. */
    final class Rows {

        private final OwnLines local;
        private final Set<Long> found = new HashSet<>();
        private final Map<Long, List<RecordedHead>> queues = new HashMap<>();
        private Supplier<List<RecordedHead>> expected = List::of;

        private Rows(OwnLines local) {
            this.local = local;
        }

        /**
         * To save a round trip, queues the query for the semaphores that callers of this instance wait for or have waited for.
         *
         * @param semaphores the names by id
         * @param refusedBefore the semaphores of acquires that were refused before
         */
        void expect(Map<Long, String> semaphores, Set<String> refusedBefore) {
            semaphores.forEach((id, name) -> {
                if (local.isFair(name)
                        && (refusedBefore.contains(name) || !local.of(name).isEmpty())) {
                    found.add(id);
                }
            });
            if (!found.isEmpty()) {
                expected = sql.queryRows(FIND, WaiterTable::queue, Set.copyOf(found));
            }
        }

        /**
         * Reads the queues that {@link #expect} has not read, if callers may be waiting.
         *
         * @param now the database's clock when the held permits were summed
         */
        void read(List<LockedSemaphore> locked, LocalDateTime now) {
            readExpected();
            List<Long> unread = new ArrayList<>();
            for (LockedSemaphore semaphore : locked) {
                if (semaphore.mayBeAwaited(now) && local.isFair(semaphore.name()) && !found.contains(semaphore.id())) {
                    unread.add(semaphore.id());
                }
            }
            find(unread);
        }

        /** Reads the result of the query of {@link #expect}, which was sent with later statements. */
        void readExpected() {
            add(expected.get());
            expected = List::of;
        }

        /** Reads the queues of these semaphores, after the queued statements. */
        private void find(Collection<Long> semaphoreIds) {
            if (!semaphoreIds.isEmpty()) {
                add(sql.read(FIND, WaiterTable::queue, semaphoreIds));
                found.addAll(semaphoreIds);
            }
        }

        private void add(List<RecordedHead> more) {
            more.forEach(queue -> queues.computeIfAbsent(queue.semaphoreId(), id -> new ArrayList<>())
                    .add(queue));
        }

        /** Returns the callers of other instances who wait for a semaphore. */
        WaitersElsewhere elsewhere(long semaphoreId, LocalDateTime now) {
            return WaitersElsewhere.of(queues.getOrDefault(semaphoreId, List.of()), local.instance(), now);
        }

        /** Returns how many callers may wait for a semaphore. */
        LineLimit limit(String name) {
            return local.limit(name);
        }

        /** Returns how many callers with a share may wait for a semaphore. */
        LineLimit limit(String name, Share share) {
            return local.limit(name, share);
        }

        private Optional<RecordedHead> own(long semaphoreId) {
            return queues.getOrDefault(semaphoreId, List.of()).stream()
                    .filter(queue -> queue.instance() == local.instance())
                    .findFirst();
        }

        /**
         * Queues the statements that tell other instances which callers of this one wait after this transaction.
         *
         * @param queue the callers of this instance that wait for the semaphore, including those that the transaction has refused
         */
        void write(LockedSemaphore semaphore, LocalDateTime now, LineHead queue) {
            long id = semaphore.id();
            if (queue.isEmpty() && !queues.containsKey(id)) {
                return; // nobody waits, as far as is known
            }
            if (!local.isFair(semaphore.name())) {
                return;
            }
            if (!queue.isEmpty() && !found.contains(id)) {
                find(List.of(id));
            }
            Optional<RecordedHead> own = own(id);
            if (queue.isEmpty()) {
                own.ifPresent(row -> delete(local.instance(), List.of(id)));
            } else if (own.isEmpty()) {
                WaiterCodec.Texts texts = texts(semaphore.name(), queue);
                sql.update(
                        INSERT,
                        id,
                        local.instance(),
                        local.owner(),
                        Place.utc(queue.since()),
                        queue.size(),
                        texts.byPlace(),
                        texts.waiters(),
                        texts.shares(),
                        now.plus(VALID_FOR));
            } else if (isWorthWriting(semaphore, now, own.get(), queue)) {
                update(semaphore.name(), id, queue, now);
            }
            if (endsSoon(semaphore.waitersUntil(), now)
                    && (!queue.isEmpty() || !elsewhere(id, now).isEmpty())) {
                extend(
                        List.of(id),
                        now); // also for other instances, which cannot do so while batches of this one keep the row
                // locked
            }
        }

        /**
         * Whether to update the row. Without waiting callers elsewhere, an outdated row does no harm: all its readers come after its
         * callers, unless head starts or shares place them between.
         */
        private boolean isWorthWriting(LockedSemaphore semaphore, LocalDateTime now, RecordedHead own, LineHead queue) {
            return !own.isValidFor(MIN_VALID_IN_BATCH, now)
                    || (!isRecorded(semaphore.name(), own, queue)
                            && (queue.hasHeadStarts()
                                    || queue.isShared()
                                    || !elsewhere(semaphore.id(), now).isEmpty()));
        }

        /** Whether a record has these callers, and the weights of their shares. */
        private boolean isRecorded(String name, RecordedHead row, LineHead queue) {
            List<Waiter> first = queue.first();
            if (row.first().size() < first.size() && queue.isShared()) {
                first = first.subList(0, WaiterCodec.callers(withShares(name, queue)));
            }
            return row.first().equals(first)
                    && (queue.isShared() ? weights(name, first) : Map.of()).equals(row.weights());
        }

        private String withShares(String name, LineHead queue) {
            return WaiterCodec.encode(
                    new WaiterCodec.WithShares(queue.first(), weights(name, queue.first()), queue.furtherByShare()),
                    queue.since());
        }

        private Map<String, Integer> weights(String name, List<Waiter> callers) {
            Map<String, Integer> weights = new HashMap<>(Map.of(Share.NONE.path(), 1));
            for (Waiter each : callers) {
                for (String share : List.of(each.share().tenant(), each.share().keyPath())) {
                    if (!share.isEmpty()) {
                        weights.computeIfAbsent(share, same -> local.weights().applyAsInt(name, same));
                    }
                }
            }
            return weights;
        }

        private WaiterCodec.Texts texts(String name, LineHead queue) {
            if (!queue.isShared()) {
                return new WaiterCodec.Texts(
                        WaiterCodec.encodeByPlace(queue.first(), queue.since()),
                        WaiterCodec.encode(queue.first(), queue.since()),
                        WaiterCodec.NO_SHARES);
            }
            List<Waiter> earliest = queue.first().stream()
                    .sorted(Comparator.comparing(Waiter::place))
                    .limit(LineHead.MAX_FIRST)
                    .toList();
            return new WaiterCodec.Texts(
                    WaiterCodec.encodeByPlace(earliest, queue.since()),
                    WaiterCodec.encode(earliest, queue.since()),
                    withShares(name, queue));
        }

        private void update(String name, long semaphoreId, LineHead queue, LocalDateTime now) {
            WaiterCodec.Texts texts = texts(name, queue);
            sql.update(
                    UPDATE,
                    Place.utc(queue.since()),
                    queue.size(),
                    texts.byPlace(),
                    texts.waiters(),
                    texts.shares(),
                    now.plus(VALID_FOR),
                    semaphoreId,
                    local.instance());
        }

        /** Whether the other instances know the callers of this one, if there are any. */
        boolean isRegistered(LockedSemaphore semaphore) {
            return !awaits(semaphore.name()) || own(semaphore.id()).isPresent();
        }

        /** Whether the row of the semaphore must say for longer that callers may be waiting. */
        boolean isExtensionDue(LockedSemaphore semaphore, LocalDateTime now) {
            return awaits(semaphore.name()) && endsSoon(semaphore.waitersUntil(), now);
        }

        private boolean awaits(String name) {
            return local.isFair(name) && !local.of(name).isEmpty();
        }

        /**
         * Updates and confirms the rows of this instance. It skips unchanged rows that another transaction has locked.
         *
         * @param names the names of the semaphores, by id
         * @param inFlight the semaphores whose rows are only confirmed, because a batch in flight updates them
         */
        void confirm(SortedMap<Long, String> names, LocalDateTime now, Set<String> inFlight) {
            List<Long> unchanged = new ArrayList<>();
            names.forEach((id, name) -> own(id).ifPresent(row -> {
                LineHead queue = local.of(name);
                boolean isInFlight = inFlight.contains(name);
                boolean due = !row.isValidFor(isInFlight ? MIN_VALID_IN_FLIGHT : MIN_VALID_IN_POLL, now);
                boolean hasSizes = row.size() == queue.size()
                        && (!local.isLimitedPerShare(name) || row.byShare().equals(queue.furtherByShare()));
                if (isInFlight || (isRecorded(name, row, queue) && !queue.isEmpty() && hasSizes)) {
                    if (due) {
                        unchanged.add(id);
                    }
                } else if (queue.isEmpty()) {
                    delete(local.instance(), List.of(id));
                } else if (due || local.isLimited(name) || !isRecorded(name, row, queue)) {
                    update(name, id, queue, now);
                }
            }));
            List<Long> locked =
                    unchanged.isEmpty() ? List.of() : sql.read(LOCK_SKIP_LOCKED, Sql.ID, local.instance(), unchanged);
            if (!locked.isEmpty()) {
                sql.update(CONFIRM, now.plus(VALID_FOR), local.instance(), locked);
            }
        }
    }

    private static boolean endsSoon(@Nullable LocalDateTime until, LocalDateTime now) {
        return until == null || until.isBefore(now.plus(AWAITED_FOR.dividedBy(2)));
    }
}
