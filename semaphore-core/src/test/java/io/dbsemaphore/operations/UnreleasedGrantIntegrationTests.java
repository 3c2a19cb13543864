package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** A grant whose holder does not release it in time. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnreleasedGrantIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final Node node = nodes.start(TestSettings.instanceTimeout(HOUR)
            .with(SemaphoreSettings.LEAK_DETECTION_THRESHOLD, Duration.ofMillis(400)));

    private final Node other = nodes.start(TestSettings.instanceTimeout(HOUR));

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger().setLevel(Level.INFO);
        logger().addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger().detachAppender(log);
        logger().setLevel(null);
    }

    @Test
    void isReportedOnceWhenItExpires() {
        String name = other.semaphore(1);
        PermitGrant next;
        try (PermitGrant grant = other.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withOwner("import of Monday")
                        .withLabel("Imports.read")
                        .withTtl(SECOND))) {
            next = node.semaphores()
                    .acquire(AcquireRequest.of(name).withTtl(HOUR).withWaitTime(SOON));
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> !other.events().of("lost").isEmpty());
            assertThat(grant.isHeld()).isFalse();
        }

        assertThat(other.events().of("lost")).hasSize(1);
        assertThat(messages("expired"))
                .singleElement()
                .asString()
                .contains(name, "import of Monday for Imports.read", "withKeepAlive(true)", "PT1S")
                .containsPattern("expired \\d+ ms ago");
        assertThat(messages("was lost")).isEmpty();
        next.close();
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Test
    void isReportedOnceWhenItsReleaseFindsItGone() {
        PermitGrant grant = acquire(HOUR);
        other.admin().forceRelease(grant.externalId(), "operator", "a drill");

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);

        assertThat(node.events().subjects("lost")).containsExactly(grant.externalId());
        assertThat(messages("was lost")).hasSize(1);
    }

    @Test
    void isNotReportedWhenAnotherProcessReleasedItInTime() {
        PermitGrant grant = acquire(SECOND.multipliedBy(5));
        PermitGrant second = acquire(SECOND.multipliedBy(5));
        other.semaphores().release(grant.externalId());
        other.semaphores().release(second.externalId());

        second.close();

        Awaitility.await("longer than the TTL")
                .during(SECOND.multipliedBy(6))
                .atMost(SOON)
                .until(() -> node.events().of("lost").isEmpty());
        assertThat(grant.isHeld()).isFalse();
        assertThat(messages("expired")).isEmpty();
    }

    @Test
    void isNotReportedWhenAnotherProcessHasRenewedIt() {
        PermitGrant grant = acquire(SECOND.multipliedBy(5));
        other.semaphores().renew(grant.externalId(), HOUR);

        Awaitility.await("longer than the TTL")
                .during(SECOND.multipliedBy(6))
                .atMost(SOON)
                .until(() -> node.events().of("lost").isEmpty());
        assertThat(grant.isHeld()).isTrue();
    }

    @Test
    void isHeldAgainByItsFirstHandleWhenItsAcquireIsRepeated() {
        AcquireRequest request =
                AcquireRequest.of(node.semaphore(1)).withTtl(SECOND).withExternalId("again");
        PermitGrant first = node.semaphores().acquire(request);
        Awaitility.await().atMost(SOON).until(() -> !node.events().of("lost").isEmpty());
        assertThat(first.isHeld()).isFalse();

        PermitGrant again = node.semaphores().acquire(request.withTtl(HOUR));

        assertThat(again.isReplayed()).isTrue();
        assertThat(again.fencingToken()).isEqualTo(first.fencingToken());
        assertThat(List.of(first, again)).allMatch(PermitGrant::isHeld);
        assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(again.isHeld()).isFalse();
        assertThat(node.events().of("lost")).hasSize(1);
    }

    @Test
    void isReportedAsALeakWithThePlaceOfItsAcquire() {
        PermitGrant grant = acquire(HOUR);

        Awaitility.await()
                .atMost(SOON)
                .until(() -> !messages("leak-detection-threshold").isEmpty());
        assertThat(log.list)
                .filteredOn(
                        event -> event.getFormattedMessage().contains("longer than semaphore.leak-detection-threshold"))
                .singleElement()
                .satisfies(event -> assertThat(event.getThrowableProxy().getStackTraceElementProxyArray())
                        .anyMatch(
                                frame -> frame.getSTEAsString().contains("UnreleasedGrantIntegrationTests.acquire(")));
        grant.close();
        assertThat(messages("possible leak, was released")).hasSize(1);
    }

    /** The only renewal, after a third of the TTL, would reach beyond the maximum hold by more than two seconds. */
    @Measured
    @Test
    void endsAtItsMaximumHoldExactly() {
        String name = other.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name)
                .withTtl(Duration.ofSeconds(9))
                .withMaxHold(Duration.ofMillis(9_500))
                .withKeepAlive(true);
        PermitGrant grant = other.semaphores().acquire(request);
        Instant end = grant.acquiredAt().plusMillis(9_500);

        PermitGrant next =
                node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR).withWaitTime(Duration.ofSeconds(30)));

        assertThat(next.acquiredAt()).isAfterOrEqualTo(end.minusMillis(50));
        Awaitility.await()
                .atMost(SOON)
                .until(() -> other.events().subjects("lost").contains(grant.externalId()));
        grant.close();
        assertThat(other.events().subjects("lost")).containsOnlyOnce(grant.externalId());
        assertThat(messages("semaphore.defaults.max-hold"))
                .filteredOn(message -> message.contains(name))
                .hasSize(1);
        next.close();
        Measurement.check(() -> assertThat(next.acquiredAt()).isBeforeOrEqualTo(end.plusMillis(1_500)));
    }

    private PermitGrant acquire(Duration ttl) {
        return node.semaphores().acquire(AcquireRequest.of(node.semaphore(1)).withTtl(ttl));
    }

    private List<String> messages(String part) {
        return List.copyOf(log.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.contains(part))
                .toList();
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.dbsemaphore.engine.hold");
    }
}
