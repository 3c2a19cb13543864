package io.dbsemaphore.engine;

import static io.dbsemaphore.testing.DatabaseKind.H2;
import static io.dbsemaphore.testing.DatabaseKind.MARIADB;
import static io.dbsemaphore.testing.DatabaseKind.MYSQL;
import static io.dbsemaphore.testing.DatabaseKind.POSTGRESQL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.persistence.Drill;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.OtherClock;
import io.dbsemaphore.testing.SlowStatements;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A start on tables, or with sessions, that do not do what limits rely on is refused; on unusual ones that do, it is not. None of the rows
 * that find it out is seen by another instance, or left.
 */
class DrillIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final Schema schema = TestDatabase.create();

    @AfterEach
    void close() {
        schema.close();
    }

    @Test
    @EnabledOnDatabase({MYSQL, MARIADB})
    void refusesTablesWithoutTransactions() {
        runScript(script().replace("engine=InnoDB", "engine=MyISAM"), "");

        refuses("", "alter table semaphore engine=InnoDB /* is MyISAM */", "alter table permit engine=InnoDB");
    }

    /** The server changes the engine with a warning that nobody sees. */
    @Test
    @EnabledOnDatabase(MARIADB)
    void refusesTablesOfAnEnforcedEngine() {
        runScript(script(), "set session enforce_storage_engine='Aria', sql_mode='STRICT_TRANS_TABLES'");

        refuses("", "alter table semaphore engine=InnoDB /* is Aria */");
    }

    @ParameterizedTest
    @ValueSource(strings = {"semaphore", "permit", "permit_request"})
    @EnabledOnDatabase({MYSQL, MARIADB})
    void refusesOneTableWithoutTransactions(String table) {
        schema.migrate();
        execute(
                "alter table permit drop foreign key fk_permit_permit_request",
                "alter table " + table + " engine=MyISAM");

        refuses("", "alter table " + table + " engine=InnoDB /* is MyISAM */");
    }

    @Test
    @EnabledOnDatabase({MYSQL, MARIADB})
    void refusesTablesWithoutTransactionsOnTheOnlyConnection() {
        runScript(script().replace("engine=InnoDB", "engine=MyISAM"), "");

        try (HikariDataSource pool = pool(1, "")) {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> new Node(pool).close())
                    .withMessageContaining("a rollback removes inserted rows");
        }
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "permit_request modify external_id varchar(190) character set utf8mb4 collate utf8mb4_general_ci not null",
                "permit_request modify external_id varchar(190) character set utf8mb4 collate utf8mb4_bin not null",
                "permit_request modify external_id varchar(190) character set latin1 not null",
                "permit_request drop index uq_permit_request_external_id",
                "permit_request modify created_at datetime not null",
                "semaphore modify name varchar(190) character set utf8mb4 collate utf8mb4_bin not null"
            })
    @EnabledOnDatabase({MYSQL, MARIADB})
    void refusesColumnsThatDoNotKeepWhatIsSent(String change) {
        schema.migrate();
        execute("alter table " + change);

        refuses("", "must compare byte for byte");
    }

    /** Sessions in turn: the clocks of two differ by an hour. */
    @Test
    @EnabledOnDatabase({MYSQL, MARIADB})
    void refusesClocksThatDiffer() {
        schema.migrate();
        AtomicInteger sessions = new AtomicInteger();
        Instant now = Instant.now();
        DataSource host = new OtherClock(
                filled(pool(4, "")),
                () -> now.minusSeconds(sessions.incrementAndGet() % 2 * 3600).getEpochSecond());
        assertThatExceptionOfType(UnsupportedDatabaseException.class)
                .isThrownBy(() -> new Node(host).close())
                .withMessageContaining("one clock for all sessions");
    }

    /** As behind a driver that balances load over servers that have nothing to do with each other, however far they are. */
    @ParameterizedTest
    @ValueSource(longs = {0, 3, 12})
    @EnabledOnDatabase({POSTGRESQL, H2})
    void refusesSessionsOfTwoDatabases(long delayMillis) {
        schema.migrate();
        try (Schema other = TestDatabase.create().migrate()) {
            HikariDataSource first = filled(schema.newPool(4));
            HikariDataSource second = filled(other.newPool(4));
            await("a start that gets its second session in time")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThatExceptionOfType(UnsupportedDatabaseException.class)
                            .isThrownBy(() -> startOn(first, second, Duration.ofMillis(delayMillis)))
                            .withMessageContaining("a session waits for what another one has inserted")
                            .satisfies(
                                    refusal -> assertThat(refusal.action()).contains("all sessions to one database")));
        }
    }

    /** As those in the memory of a session are, where the first one has the tables. */
    @Test
    @EnabledOnDatabase({POSTGRESQL, H2})
    void refusesSessionsOfADatabaseWithoutTheTables() {
        schema.migrate();
        try (Schema other = TestDatabase.create()) {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> startOn(schema.newPool(4), other.newPool(4), Duration.ZERO))
                    .withMessageContaining("all sessions have the same tables");
        }
    }

    /** Starts an engine whose second session at a time is in another database. */
    private static void startOn(HikariDataSource pool, HikariDataSource other, Duration delay) {
        DelegatingDataSource host = new DelegatingDataSource(pool) {
            @Override
            public Connection getConnection() throws SQLException {
                boolean first = pool.getHikariPoolMXBean() == null
                        || pool.getHikariPoolMXBean().getActiveConnections() == 0;
                return (first ? pool : other).getConnection();
            }
        };
        new Node(delay.isZero() ? host : new SlowStatements(host, delay)).close();
    }

    /** Nor does the time that an answer takes. */
    @Test
    void acceptsAServerThatIsFarAway() {
        schema.migrate();
        new Node(new SlowStatements(schema.newPool(4), Duration.ofMillis(12))).close();
        assertNothingIsLeft();
    }

    /** The rollback of one is that of the other, too. */
    @Test
    @EnabledOnDatabase({MYSQL, MARIADB, POSTGRESQL})
    void refusesOneSessionForAllBorrowers() {
        schema.migrate();
        SingleConnectionDataSource host =
                new SingleConnectionDataSource(schema.jdbcUrl(), schema.username(), schema.password(), true);
        try {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> new Node(host).close())
                    .satisfies(refusal -> assertThat(refusal.action()).contains("a session of its own"));
        } finally {
            host.destroy();
        }
    }

    /** The user may not delete what has been left. */
    @Test
    @EnabledOnDatabase({MYSQL, MARIADB})
    void refusesTablesWithoutTransactionsWithThePrivilegesOfRunTime() {
        runScript(script().replace("engine=InnoDB", "engine=MyISAM"), "");
        String user = "drill_" + schema.name().hashCode();
        execute(
                "create user '%s'@'%%' identified by 'secret'".formatted(user),
                "grant select, insert, update on `%s`.* to '%s'@'%%'".formatted(schema.name(), user),
                "grant delete on `%s`.semaphore_waiter to '%s'@'%%'".formatted(schema.name(), user),
                "grant delete on `%s`.semaphore_share to '%s'@'%%'".formatted(schema.name(), user));
        try (HikariDataSource pool = pool(user, "secret")) {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> new Node(pool).close())
                    .withMessageContaining("a rollback removes inserted rows");
        } finally {
            execute("drop user '%s'@'%%'".formatted(user));
        }
    }

    @Test
    @EnabledOnDatabase(POSTGRESQL)
    void refusesRowsThatARoleDoesNotSee() {
        schema.migrate();
        String role = "role_" + schema.name();
        execute(
                "create role " + role + " login password 'secret'",
                "grant select, insert, update, delete on all tables in schema public to " + role);
        try {
            try (HikariDataSource pool = pool(role, "secret")) {
                new Node(pool).close();
            }
            execute(
                    "alter table permit enable row level security",
                    "create policy own on permit using (count > 1) with check (true)");

            try (HikariDataSource pool = pool(role, "secret")) {
                assertThatExceptionOfType(DatabaseNotWritableException.class)
                        .isThrownBy(() -> new Node(pool).close())
                        .satisfies(refusal -> {
                            assertThat(refusal.description())
                                    .contains("row-level security policy for table \"permit\"");
                            assertThat(refusal.action()).contains("BYPASSRLS");
                        });
            }
            accepts(""); // the owner sees all rows
        } finally {
            execute("drop owned by " + role, "drop role " + role);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"permit", "permit_request", "semaphore"})
    @EnabledOnDatabase(POSTGRESQL)
    void refusesTablesThatACrashEmpties(String table) {
        schema.migrate();
        execute(
                "alter table permit drop constraint fk_permit_permit_request",
                "alter table " + table + " set unlogged");

        refuses("", "alter table " + table + " set logged");
    }

    @Test
    @EnabledOnDatabase(POSTGRESQL)
    void refusesARuleThatDiscardsRows() {
        schema.migrate();
        execute("create rule discard as on insert to permit where new.count = 1 do instead nothing");

        refuses("", "the permits that are held of each semaphore: [2, 1, 0, 0]. Seen: [2, 0, 0, 0]");
    }

    @ParameterizedTest
    @ValueSource(strings = {";IGNORECASE=TRUE", ";MODE=Oracle"})
    @EnabledOnDatabase(H2)
    void refusesModesThatChangeStatements(String mode) {
        runScriptOn(pool(2, mode), script());

        refuses(mode, "no MODE or IGNORECASE on H2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {";MODE=PostgreSQL", ";MODE=MySQL;DATABASE_TO_LOWER=TRUE", ";MODE=LEGACY", ";LOCK_TIMEOUT=1"})
    @EnabledOnDatabase(H2)
    void acceptsModesThatDoNot(String mode) {
        runScriptOn(pool(2, mode), script());

        accepts(mode);
    }

    /** The driver replaces the characters that it cannot encode: different names and external ids become the same. */
    @ParameterizedTest
    @ValueSource(strings = {"ISO-8859-1", "ISO-8859-1&useServerPrepStmts=true", "US-ASCII"})
    @EnabledOnDatabase(MYSQL)
    void refusesEncodingsThatLackCharacters(String encoding) {
        schema.migrate();

        refuses(
                "&characterEncoding=" + encoding,
                "Expected: the names: [",
                "-dr\u0131ll \uD83D\uDE00",
                "-dr?ll ?",
                "no other characterEncoding in the URL");
    }

    /** Its bytes are others in the encoding of the library's sessions, which is UTF-8. */
    @Test
    @EnabledOnDatabase(MYSQL)
    void refusesAnotherEncodingOfAllCharacters() {
        schema.migrate();

        refuses("&characterEncoding=GB18030", "no other characterEncoding in the URL");
    }

    @Test
    @EnabledOnDatabase(MYSQL)
    void acceptsUtf8() {
        schema.migrate();

        accepts("&characterEncoding=UTF-8");
    }

    @Test
    @EnabledOnDatabase({MYSQL, MARIADB, POSTGRESQL})
    void acceptsPartitionedTables() {
        schema.migrate();
        if (schema.kind() == POSTGRESQL) {
            execute(
                    "alter table permit rename to permit_before",
                    "create table permit (like permit_before including defaults, primary key (id)) partition by hash (id)",
                    "create table permit_0 partition of permit for values with (modulus 2, remainder 0)",
                    "create table permit_1 partition of permit for values with (modulus 2, remainder 1)");
        } else {
            execute(
                    "alter table permit drop foreign key fk_permit_permit_request",
                    "alter table permit partition by hash (id) partitions 4");
        }

        accepts("");
    }

    @Test
    void acceptsTablesWithoutPrimaryKeys() {
        schema.migrate();
        boolean inMySql = schema.kind() == MYSQL || schema.kind() == MARIADB;
        execute(
                inMySql
                        ? "alter table permit drop foreign key fk_permit_permit_request"
                        : "alter table permit drop constraint fk_permit_permit_request",
                inMySql ? "alter table permit drop primary key" : "alter table permit drop constraint pk_permit",
                inMySql
                        ? "alter table permit_request drop primary key"
                        : "alter table permit_request drop constraint pk_permit_request");

        accepts("");
    }

    @Test
    @EnabledOnDatabase({MYSQL, MARIADB, POSTGRESQL})
    void acceptsViewsThatHideNothing() {
        schema.migrate();
        for (String table : List.of("semaphore", "permit_request", "permit")) {
            execute(
                    "alter table %s rename to base_of_%1$s".formatted(table),
                    "create view %s as select * from base_of_%1$s".formatted(table));
        }

        accepts("");
    }

    @Test
    @EnabledOnDatabase({MYSQL, MARIADB, POSTGRESQL})
    void acceptsTriggersThatSetTheTimeOfAnUpdate() {
        schema.migrate();
        if (schema.kind() == POSTGRESQL) {
            execute(
                    "create function touch() returns trigger language plpgsql as"
                            + " 'begin new.updated_at := clock_timestamp() at time zone ''UTC''; return new; end'",
                    "create trigger touched before update on permit_request for each row execute function touch()",
                    "create trigger touched before update on semaphore for each row execute function touch()");
        } else {
            execute(
                    "create trigger touched_request before update on permit_request for each row set new.updated_at = utc_timestamp(6)",
                    "create trigger touched_semaphore before update on semaphore for each row set new.updated_at = utc_timestamp(6)");
        }

        accepts("");
    }

    @Test
    void acceptsCursorsThatFetchOneRow() {
        schema.migrate();

        accepts(
                switch (schema.kind()) {
                    case MYSQL -> "&useCursorFetch=true&defaultFetchSize=1";
                    case MARIADB -> "&defaultFetchSize=1";
                    case POSTGRESQL -> "&defaultRowFetchSize=1";
                    case H2 -> "";
                });
    }

    /** The library of the wrapper does not tell the other server to skip locked rows, or not to wait: the second session waits. */
    @Test
    @EnabledOnDatabase(POSTGRESQL)
    void acceptsForeignTables() {
        schema.migrate();
        try (Schema near = TestDatabase.create()) {
            JdbcTemplate jdbc = near.jdbc();
            jdbc.execute("create extension postgres_fdw");
            jdbc.execute("create server far foreign data wrapper postgres_fdw options (dbname '%s', port '5432')"
                    .formatted(schema.name()));
            jdbc.execute("create user mapping for current_user server far options (user '%s', password '%s')"
                    .formatted(schema.username(), schema.password()));
            jdbc.execute("import foreign schema public from server far into public options (import_default 'true')");

            accepts(near, near.jdbcUrl());
        }
        assertNothingIsLeft();
    }

    @Test
    void leavesThePartOfTwoSessionsOutOnTheOnlyConnection() {
        schema.migrate();
        try (HikariDataSource pool = pool(1, "")) {
            assertThat(logged(() -> new Node(pool).close())).containsExactly(LEFT_OUT);
        }
        assertThat(logged(() -> Node.on(schema, TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, 1))
                        .close()))
                .containsExactly(LEFT_OUT);
        try (HikariDataSource pool = filled(pool(4, ""))) {
            SemaphoreSettings two = TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, 2);
            for (SemaphoreSettings settings : List.of(TestSettings.defaults(), two)) {
                await("a start that gets its second session in time")
                        .atMost(SOON)
                        .untilAsserted(() -> assertThat(logged(() -> new Node(pool, settings).close()))
                                .isEmpty());
            }
        }
    }

    /** The pool would wait for 30 seconds. */
    @Test
    void leavesThePartOfTwoSessionsOutIfTheApplicationHasAllButOneConnection() throws Exception {
        schema.migrate();
        try (HikariDataSource pool = pool(3, "");
                Connection one = pool.getConnection();
                Connection two = pool.getConnection()) {
            Future<List<String>> logged = Concurrently.async(
                    () -> logged(() -> new SemaphoreEngine(pool, TestSettings.defaults(), List::of, List::of).close()));

            assertThat(Concurrently.get(logged, SOON)).containsExactly(LEFT_OUT);
            assertThat(one.isValid(1) && two.isValid(1)).isTrue();
            await("the return of what was lent late")
                    .atMost(SOON)
                    .until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 0
                            && pool.getHikariPoolMXBean().getActiveConnections() == 2);
        }
    }

    /** The first one is stopped with all its rows and locks, before its last statements. */
    @Measured
    @ParameterizedTest
    @CsvSource({"update permit set state, 1", "update permit set state, 4", "rollback, 1"})
    void disturbsNoOtherInstance(String last, int connections) throws Exception {
        Duration longest;
        try (Schema own = TestDatabase.create().migrate()) {
            longest = longestBeside(own, last, connections);
            assertNothingIsLeft(own);
        }
        // less than the second session would wait for a lock
        Measurement.check(() -> assertThat(longest).isLessThan(Duration.ofMillis(700)));
    }

    /** Returns how long an acquire and a release of another instance take at most while a start is stopped. */
    private static Duration longestBeside(Schema own, String last, int connections) throws Exception {
        Duration longest;
        try (Node other = Node.on(own);
                StatementGate host = new StatementGate(own.newPool(4))) {
            String name = other.semaphore(1);
            other.semaphores().acquire(AcquireRequest.of(name)).release(); // the first one takes its time
            StatementGate.Pause stopped = last.equals("rollback")
                    ? host.pauseBeforeRollbackOf("update permit set state")
                    : host.pauseBefore(last);
            Future<Boolean> start = Concurrently.async(() -> {
                new Node(host, TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, connections)).close();
                return true;
            });
            stopped.awaitReached(SOON);

            Future<Duration> work = Concurrently.async(() -> {
                long max = 0;
                assertThat(other.admin().list()).extracting(each -> each.name()).containsExactly(name);
                for (int i = 0; i < 20; i++) {
                    // half of them sort before all keys of the start's test
                    AcquireRequest request = AcquireRequest.of(name).withExternalId((i % 2 == 0 ? "!" : "~") + i);
                    long begun = System.nanoTime();
                    try (PermitGrant grant = other.semaphores().acquire(request)) {
                        assertThat(grant.isHeld()).isTrue();
                    }
                    max = Math.max(max, System.nanoTime() - begun);
                }
                other.admin().create("another", 1);
                Node.on(own).close();
                return Duration.ofNanos(max);
            });
            longest = Concurrently.get(work, SOON);
            assertThat(start.isDone()).isFalse();
            stopped.open();
            assertThat(Concurrently.get(start, SOON)).isTrue();
        }
        return longest;
    }

    @Test
    void instancesStartAtTheSameTime() {
        schema.migrate();
        List<Node> nodes = new CopyOnWriteArrayList<>();
        try {
            Concurrently.run(8, Duration.ofSeconds(60), thread -> nodes.add(Node.on(schema)));

            assertThat(nodes).hasSize(8);
        } finally {
            nodes.forEach(Node::close);
        }
        assertNothingIsLeft();
    }

    /** An error of a moment, of whatever kind, does not refuse a start. */
    @ParameterizedTest
    @CsvSource({"08S01, 0", "40001, 1213", "HY000, 1615", "57014, 0"})
    void acceptsADatabaseThatFailsOnce(String state, int code) {
        schema.migrate();
        try (StatementGate host = new StatementGate(schema.newPool(4))) {
            host.failBefore("coalesce(sum(p.count)", new SQLException("on purpose", state, code));

            new Node(host).close();
            assertThat(host.count("insert into semaphore("))
                    .as("of the check of the tables, and two drills")
                    .isEqualTo(3);
        }
    }

    /** A change set may add a constraint to a table that has all its columns. */
    @Test
    void waitsForAConstraint() {
        schema.migrate();
        String constraint = "constraint uq_permit_request_external_id";
        execute("alter table permit_request drop " + constraint);
        try (StatementGate host = new StatementGate(schema.newPool(4));
                SemaphoreEngine engine = SemaphoreEngine.inBackground(
                        host,
                        TestSettings.defaults(),
                        List::of,
                        List::of,
                        List::of,
                        () -> null,
                        script -> {},
                        SOON.multipliedBy(3),
                        admin -> {})) {
            await("the third drill, after the first refusal")
                    .atMost(SOON)
                    .until(() -> host.count("insert into permit_request") > 6);
            execute("alter table permit_request add " + constraint + " unique (external_id)");

            engine.start(); // throws what the start failed with
        }
    }

    /** A drill is some dozen statements, however many semaphores there are; acquires have none of them. */
    @Test
    void isShort() {
        schema.migrate();
        try (StatementGate host = new StatementGate(schema.newPool(4))) {
            new Node(host).close();
            List<String> statements = new ArrayList<>(host.statements());
            statements.removeIf(sql -> sql.contains("1 = 0"));

            assertThat(statements).hasSizeBetween(20, 60);
        }
    }

    private static final String LEFT_OUT =
            "The start does not test that a row lock excludes another session: it got no second session on the same server";

    private void refuses(String options, String... parts) {
        try (HikariDataSource pool = pool(4, options)) {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> new Node(pool).close())
                    .withMessageContaining("Semaphores would not be enforced here")
                    .satisfies(refusal -> {
                        assertThat(refusal.description()).contains("Expected: ").contains("Seen: ");
                        assertThat(refusal.description() + " " + refusal.action())
                                .contains(parts);
                    });
        }
        if (options.isEmpty()) {
            assertNothingIsLeft();
        }
    }

    private void accepts(String options) {
        accepts(schema, withOptions(options));
        if (options.isEmpty()) {
            assertNothingIsLeft();
        }
    }

    private static void accepts(Schema schema, String url) {
        try (HikariDataSource pool = new HikariDataSource(schema.poolConfig(4, url));
                Node node = new Node(pool)) {
            String name = node.semaphore(1);
            PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
            grant.close();
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        }
    }

    private void assertNothingIsLeft() {
        assertNothingIsLeft(schema);
    }

    private static void assertNothingIsLeft(Schema schema) {
        for (String table : List.of("semaphore where name like '%-dr%'", "permit_request where owner = 'drill'")) {
            assertThat(schema.jdbc().queryForObject("select count(*) from " + table, Integer.class))
                    .as(table)
                    .isZero();
        }
        assertThat(schema.jdbc()
                        .queryForObject(
                                "select count(*) from permit where permit_request_id not in (select id from permit_request)",
                                Integer.class))
                .isZero();
    }

    private static List<String> logged(Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(Drill.class);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.INFO);
        try {
            work.run();
        } finally {
            logger.setLevel(null);
            logger.detachAppender(appender);
        }
        return appender.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private HikariDataSource pool(int size, String options) {
        return schema.newPool(schema.poolConfig(size, withOptions(options)));
    }

    private HikariDataSource pool(String user, String password) {
        HikariConfig config = schema.poolConfig(4, schema.jdbcUrl());
        config.setUsername(user);
        config.setPassword(password);
        return schema.newPool(config);
    }

    /** The second connection is not waited for for long. */
    private static HikariDataSource filled(HikariDataSource pool) {
        await("connections").atMost(SOON).until(() -> pool.getHikariPoolMXBean().getIdleConnections() >= 2);
        return pool;
    }

    private String withOptions(String options) {
        String url = schema.jdbcUrl();
        return url + (url.contains("?") ? options : options.replaceFirst("&", "?"));
    }

    private void execute(String... statements) {
        for (String statement : statements) {
            schema.jdbc().execute(statement);
        }
    }

    private void runScript(String script, String setting) {
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl());
        config.setConnectionInitSql(setting.isEmpty() ? null : setting);
        runScriptOn(schema.newPool(config), script);
    }

    private static void runScriptOn(DataSource pool, String script) {
        new ResourceDatabasePopulator(new ByteArrayResource(script.getBytes(StandardCharsets.UTF_8)))
                .execute(Objects.requireNonNull(pool));
    }

    private static String script() {
        DatabaseKind kind = TestDatabase.kind();
        try {
            return new ClassPathResource(
                            "db/dbsemaphore/sql/%s.sql".formatted(kind.name().toLowerCase(Locale.ROOT)))
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
