package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** What is kept alive is held for as long as the work runs, up to its maximum; what is not, for its TTL. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeepAliveIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration INSTANCE_TIMEOUT = Duration.ofSeconds(6);

    private static Schema schema;

    private Node node;
    private Node other;

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.createForProcesses().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @BeforeEach
    void start() {
        node = Node.on(schema, TestSettings.instanceTimeout(INSTANCE_TIMEOUT));
        other = Node.on(schema, TestSettings.instanceTimeout(INSTANCE_TIMEOUT));
    }

    @AfterEach
    void stop() {
        node.close();
        other.close();
    }

    @Test
    void holdsThroughoutWorkThatIsLongerThanTheTtl() {
        String name = node.semaphore(1);
        try (ChildJvm hammer = ChildJvm.start(
                OperationsProcess.class, schema.handOver(), String.valueOf(INSTANCE_TIMEOUT.toSeconds()))) {
            hammer.awaitLine("READY", START);
            AcquireRequest request = AcquireRequest.of(name).withTtl(Duration.ofSeconds(6));

            node.semaphores().executeWithoutResult(request, grant -> {
                hammer.send("hammer " + name + " 9");
                staysHeld(grant, Duration.ofSeconds(10));

                String[] hammered = hammer.awaitLine("HAMMERED", START).split(" ", -1);
                assertThat(Integer.parseInt(hammered[1])).as("attempts").isGreaterThan(10);
                assertThat(hammered[2]).as("grants").isEqualTo("0");
            });

            assertThat(node.events().of("lost")).isEmpty();
            assertThat(SemaphoreRows.held(schema, name)).isZero();
        }
    }

    @Test
    void endsWithItsTtlWhereItIsNotKeptAlive() {
        String name = node.semaphore(1);
        AcquireRequest request =
                AcquireRequest.of(name).withTtl(Duration.ofSeconds(2)).withKeepAlive(false);

        ListAppender<ILoggingEvent> log = listen();
        try {
            node.semaphores().executeWithoutResult(request, grant -> {
                PermitGrant next =
                        other.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));

                assertThat(grant.isHeld()).isFalse();
                assertThat(next.acquiredAt()).isAfterOrEqualTo(grant.expiresAt().orElseThrow());
                assertThat(SemaphoreRows.states(schema, grant.externalId())).containsExactly("RELEASED");
                Awaitility.await("the report while the work goes on")
                        .atMost(SOON)
                        .until(() -> node.events().subjects("lost").equals(List.of(grant.externalId())));
            });
        } finally {
            logger().detachAppender(log);
        }

        assertThat(node.events().of("lost")).hasSize(1);
        assertThat(messages(log, name))
                .singleElement()
                .asString()
                .containsPattern("expired \\d+ ms ago")
                .contains("PT2S", "withKeepAlive(true)");
        assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
    }

    @Measured
    @Test
    void renewsAllThatIsDueByOneStatement() {
        String name = node.semaphore(10);
        AcquireRequest request =
                AcquireRequest.of(name).withTtl(Duration.ofSeconds(9)).withKeepAlive(true);
        List<PermitGrant> grants = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            grants.add(node.semaphores().acquire(request));
        }
        long allDue = System.nanoTime() + Duration.ofMillis(3_100).toNanos();
        if (schema.kind() == DatabaseKind.POSTGRESQL) {
            countRenewals();
        }
        node.gate().clear();

        Pause first = node.gate().pauseBefore("update permit_request");
        first.awaitReached(SOON); // one is due; meanwhile the others come to be
        Awaitility.await("all to be due").atMost(SOON).until(() -> System.nanoTime() > allDue);
        first.open();
        Awaitility.await("all to be renewed")
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(renewed(name)).isEqualTo(10));

        List<String> renewals = node.gate().statements().stream()
                .filter(sql -> sql.startsWith("update permit_request"))
                .toList();
        int renewed = schema.kind() == DatabaseKind.POSTGRESQL
                ? schema.jdbc().queryForList("select request_id from renewal").size()
                : renewals.stream()
                        .mapToInt(KeepAliveIntegrationTests::requestsIn)
                        .sum();
        assertThat(grants).allSatisfy(grant -> assertThat(grant.isHeld()).isTrue());
        grants.forEach(PermitGrant::release);
        Measurement.check(
                () -> { // three seconds later all are due again
                    assertThat(renewals)
                            .as("the statement that was stopped, and one for all that were not due then")
                            .hasSizeBetween(1, 2);
                    assertThat(renewed).as("each once: %s", renewals).isEqualTo(10);
                });
    }

    @Measured
    @Test
    void endsAtTheMaximumHoldWithOneWarning() {
        String name = node.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name)
                .withTtl(Duration.ofSeconds(8)) // long enough for a heartbeat that had ended to be noticed
                .withMaxHold(Duration.ofSeconds(1));
        ListAppender<ILoggingEvent> log = listen();
        node.gate().clear(); // the start of the instance has touched the table
        AtomicReference<Duration> late = new AtomicReference<>();
        try {
            node.semaphores().executeWithoutResult(request, grant -> {
                Instant expiry = grant.expiresAt().orElseThrow();

                PermitGrant next =
                        other.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(12)));

                assertThat(next.acquiredAt()).isAfterOrEqualTo(expiry);
                late.set(Duration.between(expiry, next.acquiredAt()));
                assertThat(node.gate().count("update permit_request"))
                        .as("renewals")
                        .isZero();
                assertThat(grant.isHeld()).isFalse();
                assertThat(next.isHeld()).isTrue();
                Awaitility.await("the warning, which is about work that goes on")
                        .atMost(Duration.ofSeconds(20))
                        .until(() ->
                                !messages(log, "semaphore.defaults.max-hold").isEmpty());
            });
        } finally {
            logger().detachAppender(log);
        }
        assertThat(messages(log, "semaphore.defaults.max-hold"))
                .singleElement()
                .asString()
                .contains(name)
                .containsPattern("has been held for PT[1-9][\\d.]*S, its maximum")
                .contains("has ended");
        assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
        Measurement.check(() -> assertThat(late.get()).isLessThanOrEqualTo(Duration.ofMillis(2_500)));
    }

    @Slow
    @Test
    void keepsAliveWhatWasRenewedToAShorterTtl() {
        String name = node.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name).withTtl(Duration.ofHours(1));

        node.semaphores().executeWithoutResult(request, grant -> {
            grant.renew(Duration.ofSeconds(6));

            staysHeld(grant, Duration.ofSeconds(8));
        });

        assertThat(node.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void keepsTheOthersAliveWhenOneIsToLastUntilItIsReleased() {
        String endless = node.semaphore(1);
        String name = node.semaphore(1);
        AcquireRequest registration = AcquireRequest.of(endless).withExternalId("registration-" + endless);
        node.semaphores().acquire(registration.withTtl(Duration.ofSeconds(6)).withKeepAlive(true));
        node.semaphores().acquire(registration.withoutTtl());

        node.semaphores()
                .executeWithoutResult(
                        AcquireRequest.of(name).withTtl(Duration.ofSeconds(6)),
                        grant -> staysHeld(grant, Duration.ofSeconds(8)));

        assertThat(node.events().of("lost")).isEmpty();
        assertThat(SemaphoreRows.held(schema, endless)).isEqualTo(1);
    }

    @Test
    void endsBeforeTheRelease() throws Exception {
        String name = node.semaphore(1);
        PermitGrant grant = node.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(9)).withKeepAlive(true));
        Pause release = node.gate().pauseBefore("set state = 'RELEASED'");
        Future<?> releasing = Concurrently.async("release", grant::release);
        release.awaitReached(SOON);
        node.gate().clear();
        Instant expiry = expiry(grant).orElseThrow();

        Awaitility.await("longer than a third of the TTL, after which it would have been due")
                .during(Duration.ofMillis(3_500))
                .atMost(SOON)
                .untilAsserted(() -> assertThat(expiry(grant)).contains(expiry));
        release.open();
        releasing.get(20, TimeUnit.SECONDS);
        assertThat(SemaphoreRows.held(schema, name)).isZero();
        assertThat(node.events().of("lost")).isEmpty();
    }

    private void staysHeld(PermitGrant grant, Duration duration) {
        Awaitility.await("to be held throughout")
                .pollInterval(Duration.ofMillis(100))
                .during(duration)
                .atMost(duration.plus(SOON))
                .failFast("lost", () -> !grant.isHeld())
                .untilAsserted(() -> {
                    assertThat(SemaphoreRows.states(schema, grant.externalId())).containsExactly("ACQUIRED");
                    node.transaction()
                            .executeWithoutResult(status -> node.semaphores().requireHeld(grant));
                    grant.permits()
                            .forEach((name, count) ->
                                    assertThat(SemaphoreRows.held(schema, name)).isEqualTo((long) count));
                });
    }

    private static ListAppender<ILoggingEvent> listen() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger().addAppender(log);
        return log;
    }

    private static List<String> messages(ListAppender<ILoggingEvent> log, String part) {
        return List.copyOf(log.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.contains(part))
                .toList();
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.dbsemaphore.engine.hold");
    }

    /** There, the ids are one parameter, so that the statements do not say how many requests they renew. */
    private static void countRenewals() {
        schema.jdbc().execute("create table if not exists renewal (request_id bigint)");
        schema.jdbc().update("delete from renewal");
        schema.jdbc().execute("""
                create or replace function count_renewal() returns trigger language plpgsql as
                'begin insert into renewal values (new.id); return new; end'""");
        schema.jdbc().execute("""
                create or replace trigger renewal after update of renewed_at on permit_request
                for each row execute function count_renewal()""");
    }

    private static int requestsIn(String renewal) {
        String ids = renewal.substring(renewal.indexOf(" in (") + 5);
        return ids.substring(0, ids.indexOf(')')).split(",", -1).length;
    }

    private static long renewed(String name) {
        Long renewed = schema.jdbc().queryForObject("""
                        select count(*) from permit_request r
                        join permit p on p.permit_request_id = r.id join semaphore s on s.id = p.semaphore_id
                        where s.name = ? and r.renewed_at > r.created_at""", Long.class, name);
        return renewed == null ? -1 : renewed;
    }

    private Optional<Instant> expiry(PermitGrant grant) {
        return other.semaphores().find(grant.externalId()).flatMap(PermitGrant::expiresAt);
    }
}
