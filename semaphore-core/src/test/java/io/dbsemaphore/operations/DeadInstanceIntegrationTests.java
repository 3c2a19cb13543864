package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.PermitHolder.HolderInstance;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** What others see of an instance that ended without a shutdown: here its heartbeat is made an hour old. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadInstanceIntegrationTests {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SELDOM = Duration.ofMinutes(2); // the next heartbeat comes after the test
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final String FOR_AN_HOUR = "no heartbeat for 36\\d\\d\\.\\d s"; // and less than 100 seconds

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Node dying = nodes.start(TestSettings.instanceTimeout(SELDOM));
    private final Node node = nodes.start(TestSettings.instanceTimeout(TIMEOUT));

    @BeforeEach
    void start() {
        log.start();
        library().addAppender(log);
    }

    @AfterEach
    void stop() {
        library().detachAppender(log);
    }

    @Test
    void warnsOnceWhenAnAcquireReclaims() {
        String one = dying.semaphore(1);
        String two = dying.semaphore(1);
        keep(AcquireRequest.of(one, two));
        die();

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(one).withWaitTime(Duration.ofSeconds(20)));

        assertThat(grant.isHeld()).isTrue();
        Awaitility.await("the warning, which the caller does not wait for")
                .atMost(Duration.ofSeconds(20))
                .until(() -> !reclaims().isEmpty());
        assertThat(reclaims())
                .singleElement()
                .asString()
                .contains("1 request(s)", one, two)
                .containsPattern(FOR_AN_HOUR);
    }

    @Test
    void warnsOnceWhenTheMaintenanceReclaims() {
        String one = dying.semaphore(1);
        String two = dying.semaphore(1);
        keep(AcquireRequest.of(one));
        keep(AcquireRequest.of(two));
        die();

        Awaitility.await("the grace")
                .atMost(Duration.ofSeconds(20))
                .until(() -> node.maintenance().releaseOrphans() == 2);

        assertThat(reclaims())
                .singleElement()
                .asString()
                .contains("2 request(s)", one, two)
                .containsPattern(FOR_AN_HOUR);
    }

    @Test
    void isShownToItsHoldersReaders() {
        String name = dying.semaphore(2);
        keep(AcquireRequest.of(name));
        PermitGrant unkept = dying.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR));

        HolderInstance alive = holders(name).get(0).instance().orElseThrow();
        die();
        List<PermitHolder> after = holders(name);

        assertThat(alive.alive()).isTrue();
        assertThat(alive.name()).isPresent();
        HolderInstance dead = after.get(0).instance().orElseThrow();
        assertThat(dead.id()).isEqualTo(alive.id());
        assertThat(dead.alive()).isFalse();
        assertThat(dead.heartbeatAt().orElseThrow())
                .isCloseTo(alive.heartbeatAt().orElseThrow().minus(HOUR), within(1, ChronoUnit.SECONDS));
        assertThat(after.get(1).externalId()).isEqualTo(unkept.externalId());
        assertThat(after.get(1).instance()).isEmpty();
    }

    /** The TTL is an hour, but without a heartbeat the permit is reclaimed after the instance timeout. */
    @Test
    void isCountedInTheExpiryThatARefusalTells() {
        String name = dying.semaphore(1);
        keep(AcquireRequest.of(name));
        Instant heartbeat = holders(name)
                .get(0)
                .instance()
                .flatMap(HolderInstance::heartbeatAt)
                .orElseThrow();

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .satisfies(refusal -> assertThat(refusal.earliestExpiry().orElseThrow())
                        .isCloseTo(heartbeat.plus(SELDOM), within(1, ChronoUnit.SECONDS)));
    }

    @Test
    void isNotCountedWhereTheTtlEndsBefore() {
        String name = dying.semaphore(1);
        PermitGrant unkept = dying.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .satisfies(refusal -> assertThat(refusal.earliestExpiry()).isEqualTo(unkept.expiresAt()));
    }

    @Test
    void isNotCountedWhereTheTtlEndsBeforeItIsSuspect() {
        String name = dying.semaphore(1);
        PermitGrant brief = dying.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(SELDOM.dividedBy(4)).withKeepAlive(true));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .satisfies(refusal -> assertThat(refusal.earliestExpiry().orElseThrow())
                        .isCloseTo(
                                brief.expiresAt().orElseThrow(),
                                within(SELDOM.dividedBy(4).toMillis(), ChronoUnit.MILLIS))); // perhaps renewed
    }

    /** Its heartbeat comes after another instance has found it dead, and before that one takes what it held. */
    @Test
    void keepsItsPermitsIfItComesBack() {
        String name = dying.semaphore(1);
        PermitGrant kept = keep(AcquireRequest.of(name));
        die();
        StatementGate.Pause found = node.gate().pauseAfter(".instance in (");
        CompletableFuture<PermitGrant> waiting =
                node.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(40)));
        found.awaitReached(Duration.ofSeconds(20));

        nodes.schema()
                .jdbc()
                .update("update semaphore_instance set expires_at = ?", LocalDateTime.of(2999, 1, 1, 0, 0));
        found.open();

        Awaitility.await()
                .during(Duration.ofSeconds(1))
                .atMost(Duration.ofSeconds(20))
                .until(
                        () -> holders(name).stream()
                                .map(PermitHolder::externalId)
                                .toList(),
                        List.of(kept.externalId())::equals);
        waiting.cancel(true);
    }

    private List<PermitHolder> holders(String name) {
        return node.admin().holders(name);
    }

    private PermitGrant keep(AcquireRequest request) {
        return dying.semaphores().acquire(request.withTtl(HOUR).withKeepAlive(true));
    }

    private void die() {
        LocalDateTime heartbeat = nodes.schema()
                .jdbc()
                .queryForObject("select max(heartbeat_at) from semaphore_instance", LocalDateTime.class);
        nodes.schema()
                .jdbc()
                .update(
                        "update semaphore_instance set heartbeat_at = ?, expires_at = ?",
                        heartbeat.minus(HOUR),
                        heartbeat.minusMinutes(59));
    }

    private List<String> reclaims() {
        return List.copyOf(log.list).stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.startsWith("Reclaimed"))
                .toList();
    }

    private static Logger library() {
        return (Logger) LoggerFactory.getLogger("io.dbsemaphore");
    }
}
