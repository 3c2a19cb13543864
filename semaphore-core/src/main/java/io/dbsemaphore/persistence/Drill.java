package io.dbsemaphore.persistence;

import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TableName;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.IncorrectResultSizeDataAccessException;

/**
 * Runs the statements of acquires and releases on rows of its own, which are rolled back, and checks that limits can be enforced: row
 * locks exclude another session, sums count inserted rows, keys are compared byte for byte, a rollback undoes changes, and there is one
 * clock. The definition of a table does not guarantee that: the server may use another engine for it, and a session, a driver or a mode of
 * the database may change what a statement does.
 *
 * <p>It does not disturb other instances: its rows are never committed, statements that skip locked rows skip them, and the index gap that
 * InnoDB locks for the duplicate is between rows of the drill. If a check gets no answer in time, it passes.
 *
 * <p>An instance is used once.
 *
 * <p>{@code DrillIntegrationTests} tests it.
 */
public final class Drill {

    private static final Logger log = LoggerFactory.getLogger(Drill.class);

    /** How long to wait for the second session: for its connection, and for both of its answers. Shorter than any limit for idle sessions. */
    private static final Duration PATIENCE = Duration.ofMillis(800);

    /** A session that does not wait for the other one answers within this time plus twice the time of its first statements. */
    private static final Duration PROMPT = Duration.ofMillis(5);

    /** By how much the clocks of two sessions may differ. */
    private static final Duration TOLERANCE = Duration.ofSeconds(1);

    private static final String TRANSACTIONS =
            "Keep the tables where transactions and row locks work, with no enforce_storage_engine on MariaDB, and let the DataSource"
                    + " lend a session of its own to each borrower.";
    private static final String PLAIN =
            "Let statements, values and results pass unchanged: no MODE or IGNORECASE on H2, UTF-8 between"
                    + " driver and server (no other characterEncoding in the URL), no filter, proxy, trigger or rule that changes them. The"
                    + " columns name and external_id must compare byte for byte, and be unique, as the changelog creates them.";
    private static final String ONE_DATABASE =
            "Connect all sessions to one database: no loadBalanceHosts over servers that are not one, no database in the memory of a"
                    + " single session.";
    private static final String CLOCK =
            "Connect all sessions to one server, or keep the clocks of the servers together.";

    /** Selects the statements to execute on MySQL and MariaDB after a deviation. Even in literals, the names of tables get their schema. */
    private static final String CONVERSIONS = """
            select concat('alter table ', table_name, ' engine=InnoDB /* is ', engine, ' */') from information_schema.tables
            where engine <> 'InnoDB' and concat('`', table_schema, '`.', table_name) in (%s) order by table_name""".formatted(TableName.each("'%s'", ", "));

    /**
     * Selects the statements to execute on PostgreSQL for unlogged tables, which a crash empties. A table comes before those that refer to
     * it.
     */
    private static final String UNSAFE = """
            select concat('alter table ', relname, ' set logged') from pg_class
            where relpersistence = 'u' and oid in (cast('semaphore' as regclass), cast('permit_request' as regclass),
                cast('permit' as regclass)) order by relname desc""";

    /** Thrown when a check fails. */
    public static final class Deviation extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private String action;

        private Deviation(String expected, Object seen, String action, @Nullable Throwable cause) {
            super("Expected: " + expected + ". Seen: " + seen, cause);
            this.action = action;
        }

        /** Returns the action to take. */
        public String action() {
            return action;
        }
    }

    private final ShortTransaction transaction;
    private final Tables tables;
    private final Database database;
    private final boolean oneServer;

    /** Keys that differ only in case, a trailing blank, and characters outside Latin-1. A random prefix sets this drill apart. */
    private final List<String> keys = Stream.of("drill", "DRILL", "drill ", "dr\u0131ll \uD83D\uDE00")
            .map((UUID.randomUUID() + "-")::concat)
            .toList();

    private final List<Long> ids;
    private final List<PermitRequest> requests = new ArrayList<>();

    /** The database's clock: in the first session, in the second one, and in the first one after the rollback. */
    private final List<LocalDateTime> times = new CopyOnWriteArrayList<>();

    private final Semaphore answers = new Semaphore(0);
    private final CountDownLatch end = new CountDownLatch(1);
    private final CompletableFuture<Boolean> turn = new CompletableFuture<>();
    private volatile boolean besideIsOpen;
    private volatile @Nullable Deviation deviationBeside;
    private volatile long nanosOfAnswerBeside;

    /** Whether the first session may have ended, so that the second one no longer waits for it. */
    private volatile boolean mayEnd;

    Drill(ShortTransaction transaction, Tables tables, boolean oneServer) {
        this.transaction = transaction;
        this.tables = tables;
        this.oneServer = oneServer;
        this.database = tables.requests().database();
        this.ids = keys.stream().map(key -> tables.ids().next()).toList();
    }

    /** Runs the drill on the current thread, which must be one of the library's. */
    void run() {
        @Nullable RuntimeException failure = null;
        try {
            transaction.rollBack(this::rehearse);
        } catch (RuntimeException failed) {
            failure = deviationOf(failed);
        } finally {
            mayEnd = true;
            turn.complete(false);
            if (besideIsOpen) {
                Uninterruptibles.await(end, PATIENCE.toNanos());
            }
        }
        if (failure == null) {
            failure = deviationBeside;
        }
        List<String> left = transaction.execute(() -> {
            times.add(tables.requests().now());
            return deleteWhatIsLeft();
        });
        if (!left.isEmpty()) {
            failure = new Deviation("a rollback removes inserted rows", left, TRANSACTIONS, failure);
        } else if (failure == null && !isOneClock()) {
            failure = new Deviation("one clock for all sessions", times, CLOCK, null);
        }
        List<String> mends = database == Database.POSTGRESQL || failure instanceof Deviation ? mends() : List.of();
        if (failure == null && !mends.isEmpty()) {
            failure = new Deviation("no crash of the server empties a table", "unlogged tables", "", null);
        }
        if (failure instanceof Deviation deviation) {
            deviation.action = (deviation.action + " " + String.join("; ", mends)).strip();
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static RuntimeException deviationOf(RuntimeException failed) {
        if (failed instanceof IncorrectResultSizeDataAccessException cut) {
            return new Deviation("all rows of a result", String.valueOf(cut.getMessage()), PLAIN, cut);
        }
        return isOfStatement(failed)
                ? new Deviation(
                        "all statements are executed", SqlErrors.root(failed).orElseThrow(), PLAIN, failed)
                : failed;
    }

    private void rehearse() {
        boolean two = beginBeside();
        times.add(tables.requests().now());
        insert(times.get(0));
        if (two) {
            turn.complete(true);
            // on a foreign table, the second session waits in spite of skip locked
            if (Uninterruptibles.acquire(answers, PATIENCE.toNanos())) {
                Uninterruptibles.acquire(
                        answers,
                        Math.min(PROMPT.toNanos() + 2 * nanosOfAnswerBeside, PATIENCE.toNanos() - nanosOfAnswerBeside));
            }
            Deviation seen = deviationBeside;
            if (seen != null) {
                throw seen;
            }
        }
        Supplier<Integer> released = tables.queueRelease(requests.get(0).id());
        require("the permits that are held after a release", List.of(0L), held(ids.subList(0, 1)));
        require("the number of released requests", 1, released.get());
        mayEnd = true;
        // last: on PostgreSQL, this ends the transaction, and the second session goes on; on InnoDB, the locks stay
        if (insertsDuplicateOf(0)) {
            throw new Deviation("an external id exists once", "it was inserted twice", PLAIN, null);
        }
    }

    private void insert(LocalDateTime now) {
        keys.forEach(key -> requests.add(request(key, now)));
        SemaphoreTable semaphores = tables.semaphores();
        semaphores.insert(IntStream.range(0, keys.size())
                .mapToObj(each -> Arrays.<@Nullable Object>asList(ids.get(each), keys.get(each), 3, null, null))
                .toList());
        tables.requests().queueInsert(requests);
        tables.sql().flush();
        require("the names", Set.copyOf(keys), semaphores.findIds(keys).keySet());
        Supplier<List<LockedSemaphore>> locked = semaphores.lock(ids.get(0));
        tables.sql().flush();
        Supplier<List<LockedSemaphore>> others = semaphores.lockSkipLocked(ids);
        tables.sql().flush();
        long request = requests.get(0).id();
        tables.permits()
                .queueInsert(IntStream.of(0, 1)
                        .mapToObj(each -> PermitTable.row(
                                new StoredPermit(tables.ids().next(), ids.get(each), keys.get(each), 2 - each, 1),
                                request,
                                false))
                        .toList());
        require("the permits that are held of each semaphore", List.of(2L, 1L, 0L, 0L), held(ids));
        require("the permits that are held of one semaphore", List.of(2L), held(ids.subList(0, 1)));
        require(
                "the number of rows locked",
                5,
                locked.get().size() + others.get().size());
        SortedMap<Long, Long> one = new TreeMap<>(Map.of(ids.get(0), 1L, ids.get(1), 1L));
        semaphores.queueRaiseFences(one, new TreeMap<>(Map.of(ids.get(0), 1L, ids.get(1), 2L)), now);
        require(
                "the external ids and times",
                idsAndTimes(requests),
                idsAndTimes(tables.requests().findByExternalIds(keys)));
    }

    private static Set<String> idsAndTimes(List<PermitRequest> requests) {
        return requests.stream()
                .map(request -> request.externalId() + " " + request.acquiredAt())
                .collect(Collectors.toSet());
    }

    private PermitRequest request(String key, LocalDateTime now) {
        AcquireCommand command =
                new AcquireCommand(key, true, true, Map.of(key, 1), false, Duration.ofHours(1), "drill", "drill", null);
        return new PermitRequest(tables.ids().next(), new AcquireState(command), PermitState.ACQUIRED, now);
    }

    /** Executes the queued statements, and sums the held permits. */
    private List<Long> held(List<Long> semaphoreIds) {
        Map<Long, HeldSum> sums = tables.permits().sumHeld(semaphoreIds);
        return semaphoreIds.stream()
                .map(id -> Objects.requireNonNull(sums.get(id)).held())
                .toList();
    }

    private boolean insertsDuplicateOf(int each) {
        try {
            tables.requests()
                    .queueInsert(
                            List.of(request(keys.get(each), tables.requests().now())));
            tables.sql().flush();
            return true;
        } catch (RuntimeException failure) {
            if (SqlErrors.is(failure, SqlErrorKind.DUPLICATE_KEY)) {
                return false;
            }
            throw failure;
        }
    }

    /** Begins a transaction on a second session; returns false if it cannot do so in time. */
    private boolean beginBeside() {
        Sessions sessions = transaction.sessions();
        if (oneServer && sessions.areSeveral()) {
            sessions.threads().execute(() -> sessions.onReservedConnection(this::runBeside));
            Uninterruptibles.acquire(answers, PATIENCE.toNanos());
        }
        if (!besideIsOpen) {
            log.info("The start does not test that a row lock excludes another session: it got no second session on the"
                    + " same server");
        }
        return besideIsOpen;
    }

    private void runBeside() {
        try {
            transaction.rollBack(() -> {
                besideIsOpen = true;
                answers.release();
                if (turn.join()) {
                    lockBeside();
                }
            });
        } catch (RuntimeException failure) {
            log.debug("The second session of the drill has failed", failure);
            deviationBeside = deviationOfBeside(failure);
        } finally {
            answers.release(2);
            end.countDown();
        }
    }

    /** Returns the deviation of the second session, if any. The first session has found the tables. */
    private static @Nullable Deviation deviationOfBeside(RuntimeException failure) {
        if (SqlErrors.is(failure, SqlErrorKind.MISSING_TABLE) || SqlErrors.is(failure, SqlErrorKind.MISSING_SCHEMA)) {
            return new Deviation(
                    "all sessions have the same tables", SqlErrors.root(failure).orElseThrow(), ONE_DATABASE, failure);
        }
        return deviationOf(failure) instanceof Deviation deviation ? deviation : null;
    }

    private void lockBeside() {
        long begin = System.nanoTime();
        times.add(tables.requests().now());
        Supplier<List<LockedSemaphore>> locked = tables.semaphores().lockSkipLocked(ids);
        tables.sql().flush();
        if (!locked.get().isEmpty()) {
            throw new Deviation("a second session skips what is locked", locked.get(), TRANSACTIONS, null);
        }
        nanosOfAnswerBeside = System.nanoTime() - begin;
        answers.release();
        // waits until the first session has rolled back; no other session waits, because the key is between the drill's
        insertsDuplicateOf(2);
        if (!mayEnd) {
            deviationBeside = new Deviation(
                    "a session waits for what another one has inserted",
                    "it does not",
                    ONE_DATABASE + " " + TRANSACTIONS + " " + PLAIN,
                    null);
        }
    }

    private boolean isOneClock() {
        LocalDateTime first = times.get(0);
        LocalDateTime last = times.get(times.size() - 1);
        return !oneServer
                || times.stream()
                        .noneMatch(each -> each.plus(TOLERANCE).isBefore(first)
                                || each.minus(TOLERANCE).isAfter(last));
    }

    /** Deletes rows that an engine without transactions did not roll back. Returns their tables and ids. */
    private List<String> deleteWhatIsLeft() {
        List<String> left = new ArrayList<>();
        List<Long> all = Stream.concat(ids.stream(), requests.stream().map(PermitRequest::id))
                .toList();
        for (String rows : List.of("permit where permit_request_id", "permit_request where id", "semaphore where id")) {
            List<Long> found = tables.sql().read("select id from " + rows + " in (?)", Sql.ID, all);
            if (!found.isEmpty()) {
                left.add("%s, rows %s".formatted(rows.replaceAll(" .*", ""), found));
                delete("delete from " + rows + " in (?)", all);
            }
        }
        return left;
    }

    /** Deletes rows, if the user may: the library needs no such privilege otherwise. */
    private int delete(String sql, List<Long> all) {
        try {
            return tables.sql().execute(sql, all);
        } catch (RuntimeException denied) {
            log.warn(
                    "The start inserted rows to test the tables, and their rollback left them there. Execute: {}",
                    sql.replace("?", all.toString().replaceAll("[\\[\\]]", "")),
                    denied);
            return 0;
        }
    }

    /** Returns the statements that repair the tables. */
    private List<String> mends() {
        try {
            return database == Database.H2
                    ? List.of()
                    : transaction.execute(() -> tables.sql()
                            .read(
                                    database == Database.POSTGRESQL ? UNSAFE : CONVERSIONS,
                                    (row, number) -> row.getString(1)));
        } catch (RuntimeException unreadable) { // a filter of the pool may reject the query
            log.debug("The definitions of the tables are unknown", unreadable);
            return List.of();
        }
    }

    /** Whether the server rejected the statement itself. That includes a duplicate key: the keys are random, so no other row has them. */
    private static boolean isOfStatement(RuntimeException failure) {
        return SqlErrors.isAnswerOfServer(failure)
                && Arrays.stream(SqlErrorKind.values())
                        .noneMatch(kind -> kind != SqlErrorKind.DUPLICATE_KEY && SqlErrors.is(failure, kind));
    }

    private static void require(String what, Object right, Object seen) {
        if (!right.equals(seen)) {
            throw new Deviation(what + ": " + right, seen, PLAIN, null);
        }
    }
}
