package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Several statements at once, with the settings of the host's URL that affect how the driver sends them. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StatementQueueIntegrationTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static Schema schema;

    @BeforeAll
    static void createTable() {
        schema = TestDatabase.create();
        schema.jdbc().execute("create table counted (id bigint primary key, n int not null, t varchar(20))");
    }

    @AfterAll
    static void dropDatabase() {
        schema.close();
    }

    @BeforeEach
    void fill() {
        schema.jdbc().update("delete from counted");
        schema.jdbc().update("insert into counted (id, n, t) values (1, 0, 'a'), (2, 0, 'b')");
    }

    static Stream<String> hostSettings() {
        return switch (TestDatabase.kind()) {
            case POSTGRESQL ->
                Stream.of(
                        "",
                        "&prepareThreshold=0",
                        "&prepareThreshold=1",
                        "&prepareThreshold=-1",
                        "&defaultRowFetchSize=1",
                        "&autosave=always",
                        "&autosave=conservative&prepareThreshold=1",
                        "&preferQueryMode=simple",
                        "&preferQueryMode=extendedForPrepared",
                        "&preferQueryMode=extendedCacheEverything",
                        "&reWriteBatchedInserts=true&stringtype=unspecified");
            case MYSQL ->
                Stream.of(
                        "",
                        "&allowMultiQueries=true",
                        "&useServerPrepStmts=true",
                        "&useCursorFetch=true&defaultFetchSize=1");
            default -> Stream.of("");
        };
    }

    @ParameterizedTest
    @MethodSource("hostSettings")
    void giveTheResultOfEach(String hostSettings) throws SQLException {
        for (int i = 1; i <= 8; i++) { // the driver has statements prepared that are repeated
            try (Opened sessions = new Opened(hostSettings);
                    Transaction transaction = sessions.begin()) {
                StatementQueue queue = transaction.queue();
                for (int again = 1; again <= 8; again++) {
                    Supplier<Integer> one = queue.update("update counted set n = n + ? where id = ?", List.of(1, 1L));
                    Supplier<List<Integer>> both =
                            numbers(queue, "select n from counted where id in (?, ?) order by id", 1L, 2L);
                    queue.flush();
                    Supplier<Integer> two = queue.update("update counted set t = ?", Arrays.asList((Object) null));
                    Supplier<Integer> none = queue.update("update counted set n = n + ? where id = ?", List.of(1, 3L));
                    Supplier<List<Integer>> empty = numbers(queue, "select n from counted where id = ?", 3L);
                    transaction.commit();

                    assertThat(one.get()).isEqualTo(1);
                    assertThat(both.get()).hasSize(2).endsWith(0);
                    assertThat(two.get()).isEqualTo(2);
                    assertThat(none.get()).isZero();
                    assertThat(empty.get()).isEmpty();
                }
            }
        }
        assertThat(sum()).isEqualTo(64);
    }

    @ParameterizedTest
    @MethodSource("hostSettings")
    void commitNothingWhereOneFails(String hostSettings) throws SQLException {
        try (Opened sessions = new Opened(hostSettings)) {
            for (int failing = 0; failing < 3; failing++) {
                try (Transaction transaction = sessions.begin()) {
                    StatementQueue queue = transaction.queue();
                    for (int i = 0; i < 3; i++) {
                        queue.update("update counted set n = ? where id = ?", List.of(5, (long) i));
                        if (i == failing) {
                            queue.update("insert into counted (id, n, t) values (?, ?, ?)", List.of(1L, 7, "c"));
                        }
                    }

                    assertThatExceptionOfType(SQLException.class)
                            .isThrownBy(transaction::commit)
                            .matches(failure -> SqlErrors.is(failure, SqlErrorKind.DUPLICATE_KEY));
                    transaction.rollback();
                }
                assertThat(sum()).isZero();
            }
        }
    }

    @Measured
    @ParameterizedTest
    @MethodSource("hostSettings")
    void seeWhatWasCommittedWhileTheLockWasWaitedFor(String hostSettings) throws Exception {
        fill();
        try (Opened sessions = new Opened(hostSettings);
                Connection other = schema.newPool(1).getConnection();
                Transaction transaction = sessions.begin()) {
            other.setAutoCommit(false);
            other.createStatement().executeUpdate("update counted set n = 3 where id = 2");
            Future<Boolean> committing = Concurrently.async(() -> {
                Thread.sleep(50); // the lock is waited for for a second at most
                other.createStatement().executeUpdate("insert into counted (id, n, t) values (3, 4, 'c')");
                other.commit();
                return true;
            });
            StatementQueue queue = transaction.queue();
            Supplier<List<Integer>> locked =
                    numbers(queue, "select n from counted where id in (?, ?) order by id for update", 1L, 2L);
            Supplier<List<Integer>> sum = numbers(queue, "select sum(n) from counted where id in (?, ?)", 2L, 3L);

            try {
                queue.flush();
            } catch (SQLException failure) {
                if (SqlErrors.isLockWait(failure)) {
                    Concurrently.get(committing);
                    throw Measurement.late("The commit came after the lock wait: " + failure);
                }
                throw failure;
            }

            assertThat(Concurrently.get(committing)).isTrue();
            assertThat(locked.get()).containsExactly(0, 3);
            assertThat(sum.get()).containsExactly(7);
            transaction.rollback();
        }
    }

    /** What the driver has prepared on the server does not fit any more. */
    @ParameterizedTest
    @MethodSource("hostSettings")
    void areExecutedAgainWhenTheTableHasChanged(String hostSettings) throws SQLException {
        try (Opened sessions = new Opened(hostSettings)) {
            int changes = 0;
            for (int i = 0; i < 30; i++) {
                if (i % 10 == 9) {
                    schema.jdbc()
                            .execute("alter table counted add column c%d_%d int"
                                    .formatted(sessions.hashCode(), changes++));
                }
                Supplier<List<Integer>> rows;
                try (Transaction transaction = sessions.begin()) {
                    rows = all(transaction);
                } catch (SQLException failure) {
                    assertThat(SqlErrors.isConnectionLost(failure)).isFalse();
                    try (Transaction transaction = sessions.begin()) { // as a transaction that is tried again
                        rows = all(transaction);
                    }
                }
                assertThat(rows.get()).hasSize(2);
            }
        }
    }

    /** Connector/J parses a text whenever it is prepared. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void stayPreparedForTheNextTransactionsOfTheSession() throws SQLException {
        try (HikariDataSource pool = schema.newPool(1)) {
            OpenStatements opened = new OpenStatements(pool);
            Sessions sessions = new Sessions(
                    opened, Database.of(pool), LIMIT, LIMIT, 1, true, new DatabaseThreads(1, new DaemonThreads()));
            try (sessions;
                    Transaction transaction = new Transaction(sessions)) {
                StatementQueue queue = transaction.queue();
                opened.count.set(0);
                for (int i = 0; i < 5; i++) {
                    update(queue, "t = 'c'");
                    transaction.commit();
                }
                assertThat(opened.count).as("prepared").hasValue(1);

                for (int i = 0; i < 50; i++) {
                    update(queue, "t = 'c" + i + "'");
                    transaction.commit();
                }
                assertThat(opened.open).as("kept").hasValue(16);
            }
            assertThat(opened.open).as("after the return to the pool").hasValue(0);
        }
        assertThat(sum()).isEqualTo(110);
    }

    /** PostgreSQL's driver copies the elements, others have buffers for them until the array is freed. */
    @ParameterizedTest(name = "pipelining: {0}")
    @ValueSource(booleans = {true, false})
    @EnabledOnDatabase(DatabaseKind.POSTGRESQL)
    void freeTheirArraysWhenTheyHaveBeenExecuted(boolean pipelining) throws SQLException {
        try (HikariDataSource pool = schema.newPool(1)) {
            OpenArrays opened = new OpenArrays(pool);
            Sessions sessions = sessions(opened, pipelining);
            try (sessions) {
                try (Transaction transaction = new Transaction(sessions)) {
                    Supplier<Integer> both = increment(transaction.queue(), 1L, 2L);
                    Supplier<Integer> one = increment(transaction.queue(), 2L, 3L);
                    transaction.commit();
                    assertThat(both.get() + one.get()).isEqualTo(3);
                }
                assertThat(opened.count).hasValue(2);
                assertThat(opened.open).hasValue(0);

                try (Transaction transaction = new Transaction(sessions)) {
                    increment(transaction.queue(), 1L, 2L);
                    transaction.queue().update("insert into counted (id, n, t) values (?, ?, ?)", List.of(1L, 7, "c"));
                    assertThatExceptionOfType(SQLException.class).isThrownBy(transaction::commit);
                }
                assertThat(opened.count).hasValue(3);
                assertThat(opened.open).as("after a failure").hasValue(0);
            }
        }
        assertThat(sum()).isEqualTo(3);
    }

    /** A pool may limit how many statements of a session are open: the library keeps none prepared then. */
    @Test
    void leaveAPoolWithFewStatementsSome() throws SQLException {
        try (BasicDataSource pool = new BasicDataSource()) {
            pool.setUrl(schema.jdbcUrl());
            pool.setUsername(schema.username());
            pool.setPassword(schema.password());
            pool.setPoolPreparedStatements(true);
            pool.setMaxOpenPreparedStatements(5);
            try (Sessions sessions = sessions(pool, true);
                    Transaction transaction = new Transaction(sessions)) {
                StatementQueue queue = transaction.queue();
                boolean together = queue.isOneRoundTrip();
                for (int i = 1; i <= 20; i++) {
                    update(queue, "t = '" + i + "'");
                    queue.flush();
                }
                transaction.commit();
                assertThat(queue.isOneRoundTrip()).isEqualTo(together);
            }
        }
        assertThat(sum()).isEqualTo(40);
    }

    /** The driver sends "explain" and the text once more: what follows the first statement in it would be executed twice. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void areExecutedOnceWhereSlowOnesAreExplained() throws SQLException {
        try (Opened sessions = new Opened(
                        "&explainSlowQueries=true&logSlowQueries=true&autoSlowLog=false&slowQueryThresholdMillis=1");
                Transaction transaction = sessions.begin()) {
            numbers(transaction.queue(), "select sleep(?)", 0.05);
            update(transaction.queue(), "t = 'b'");
            transaction.commit();
        }
        assertThat(sum()).isEqualTo(2);
    }

    private static Supplier<Integer> increment(StatementQueue queue, Long... ids) {
        SqlArray array = new SqlArray("int8", List.of(ids));
        return queue.update("update counted set n = n + 1 where id = any (" + array.parameter() + ")", List.of(array));
    }

    private static Sessions sessions(DataSource pool, boolean pipelining) throws SQLException {
        return new Sessions(
                pool, Database.of(pool), LIMIT, LIMIT, 1, pipelining, new DatabaseThreads(1, new DaemonThreads()));
    }

    private static void update(StatementQueue queue, String change) {
        for (long id = 1; id <= 2; id++) {
            Supplier<Integer> unused =
                    queue.update("update counted set n = n + ?, " + change + " where id = ?", List.of(1, id));
        }
    }

    /** Counts the statements that are prepared on its connections, and those that are not closed. */
    private static final class OpenStatements extends DelegatingDataSource {

        private final AtomicInteger count = new AtomicInteger();
        private final AtomicInteger open = new AtomicInteger();

        OpenStatements(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection target = obtainTargetDataSource().getConnection();
            return proxy(Connection.class, target, (name, result) -> {
                if (!name.equals("prepareStatement")) {
                    return result;
                }
                count.incrementAndGet();
                open.incrementAndGet();
                return proxy(PreparedStatement.class, result, (called, answer) -> {
                    if (called.equals("close")) {
                        open.decrementAndGet();
                    }
                    return answer;
                });
            });
        }
    }

    /** Counts the arrays that are created on its connections, and those that are not freed. */
    private static final class OpenArrays extends DelegatingDataSource {

        private final AtomicInteger count = new AtomicInteger();
        private final AtomicInteger open = new AtomicInteger();

        OpenArrays(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection target = obtainTargetDataSource().getConnection();
            return proxy(Connection.class, target, (name, result) -> {
                if (!name.equals("createArrayOf")) {
                    return result;
                }
                count.incrementAndGet();
                open.incrementAndGet();
                return proxy(Array.class, result, (called, answer) -> {
                    if (called.equals("free")) {
                        open.decrementAndGet();
                    }
                    return answer;
                });
            });
        }
    }

    private static <T> T proxy(Class<T> type, Object target, BiFunction<String, Object, Object> result) {
        return type.cast(Proxy.newProxyInstance(
                StatementQueueIntegrationTests.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> {
                    try {
                        return result.apply(method.getName(), method.invoke(target, arguments));
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }

    private static Supplier<List<Integer>> all(Transaction transaction) throws SQLException {
        StatementQueue queue = transaction.queue();
        queue.update("update counted set n = n + ?", List.of(0));
        Supplier<List<Integer>> rows = numbers(queue, "select counted.* from counted where n >= ?", 0);
        try {
            transaction.commit();
        } catch (SQLException failure) {
            transaction.rollback();
            throw failure;
        }
        return rows;
    }

    private static Supplier<List<Integer>> numbers(StatementQueue queue, String sql, Object... values) {
        return queue.query(sql, List.of(values), rows -> {
            Stream.Builder<Integer> numbers = Stream.builder();
            while (rows.next()) {
                numbers.add(rows.getInt(1));
            }
            return numbers.build().toList();
        });
    }

    private static int sum() {
        return schema.jdbc()
                .query("select sum(n) from counted", (ResultSet row, int number) -> row.getInt(1))
                .get(0);
    }

    private static final class Opened implements AutoCloseable {

        private final HikariDataSource pool;
        private final Sessions sessions;

        Opened(String hostSettings) throws SQLException {
            pool = new HikariDataSource(schema.poolConfig(1, schema.jdbcUrl() + hostSettings));
            sessions = new Sessions(
                    pool, Database.of(pool), LIMIT, LIMIT, 1, true, new DatabaseThreads(1, new DaemonThreads()));
        }

        Transaction begin() throws SQLException {
            return new Transaction(sessions);
        }

        @Override
        public void close() {
            sessions.close();
            pool.close();
        }
    }

    private static final class Transaction implements AutoCloseable {

        private final Sessions sessions;
        private final Session session;

        Transaction(Sessions sessions) throws SQLException {
            this.sessions = sessions;
            this.session = sessions.begin();
        }

        StatementQueue queue() {
            return session.statements();
        }

        void commit() throws SQLException {
            session.commit();
        }

        void rollback() {
            session.failed(new SQLException());
        }

        @Override
        public void close() throws SQLException {
            sessions.end();
        }
    }
}
