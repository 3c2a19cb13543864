package io.dbsemaphore.tools.benchmark.approach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL})
class PlainStatementsIntegrationTests {

    private static final String TABLES = Tables.PREFIX + "plain_";
    private static final List<Long> SEMAPHORE = List.of(7L);

    /** On a busy machine the database may seem to be far enough for one. */
    private static final SemaphoreSettings TWO_TRIPS = SemaphoreSettings.defaults()
            .with(SemaphoreSettings.TABLE_PREFIX, TABLES)
            .with(SemaphoreSettings.ONE_TRIP_FROM, Duration.ofHours(1))
            .with(MaintenanceSettings.ENABLED, false);

    private final TestDatabase.Schema database = TestDatabase.createForProcesses();
    private final Target target = new Target(database.jdbcUrl(), database.username(), database.password(), null);
    private final HikariDataSource pool = target.pool("plain", 4, PlainStatementsLimiter::configure);

    @BeforeEach
    void createTables() throws Exception {
        try (HikariDataSource migrating = target.pool("tables", 2)) {
            new Tables(migrating).createLibraryTables(TABLES);
        }
    }

    @AfterEach
    void drop() {
        pool.close();
        database.close();
    }

    /** After a change of the library's statements, change {@link PlainStatements}, too. */
    @Test
    void areThoseOfTheLibrary() throws Exception {
        PlainStatements plain = PlainStatements.of(pool, TABLES);
        Logger logger = (Logger) LoggerFactory.getLogger("io.dbsemaphore.sql");
        ListAppender<ILoggingEvent> sent = new ListAppender<>();
        try (HikariDataSource own = target.pool("library", 4);
                DbSemaphoreLimiter library = new DbSemaphoreLimiter(own, new Demands(false, false), TWO_TRIPS)) {
            library.prepare(7, 1);
            library.acquire(SEMAPHORE).release(); // reads the id of the semaphore
            sent.start();
            logger.addAppender(sent);
            logger.setLevel(Level.DEBUG);
            logger.setAdditive(false);

            library.acquire(SEMAPHORE).release();

            assertThat(sent.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactlyElementsOf(Stream.of(plain.lock(), plain.write(), plain.release())
                            .flatMap(List::stream)
                            .toList());
        } finally {
            logger.detachAppender(sent);
            logger.setLevel(null);
            logger.setAdditive(true);
        }
    }

    @Test
    void acquireUpToTheCapacityAndRelease() throws Exception {
        try (PlainStatementsLimiter limiter = new PlainStatementsLimiter(pool, TABLES)) {
            limiter.prepare(7, 2);
            Limiter.Held first = limiter.acquire(SEMAPHORE);
            Limiter.Held second = limiter.acquire(SEMAPHORE);
            assertThatThrownBy(() -> limiter.acquire(SEMAPHORE)).hasMessage("2 of 2 permits are held");

            first.release();
            Limiter.Held third = limiter.acquire(SEMAPHORE);

            assertThatThrownBy(first::release).hasMessageEndingWith("is not held");
            assertThat(permits()).containsExactlyInAnyOrder("RELEASED 1", "ACQUIRED 2", "ACQUIRED 3");
            second.release();
            third.release();
            assertThat(permits()).containsExactlyInAnyOrder("RELEASED 1", "RELEASED 2", "RELEASED 3");
        }
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }

    /** State and token above the first fence. */
    private List<String> permits() {
        List<Map<String, Object>> rows =
                database.jdbc().queryForList("select state, token from %spermit order by token".formatted(TABLES));
        long first = database.jdbc()
                .queryForList("select min(token) from %spermit".formatted(TABLES), Long.class)
                .get(0);
        return rows.stream()
                .map(row -> row.get("state") + " " + (((Number) row.get("token")).longValue() - first + 1))
                .toList();
    }
}
