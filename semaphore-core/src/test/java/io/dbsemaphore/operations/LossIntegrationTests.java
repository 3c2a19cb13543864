package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.RecordingListener.Event;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A loss that the holder itself comes upon, in a renewal or a check. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LossIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    /** No heartbeat comes upon a loss before the holder does. */
    private final Node node = nodes.start(TestSettings.instanceTimeout(HOUR));

    private final Node other = nodes.start(TestSettings.instanceTimeout(HOUR));

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isToldWhenARenewalFindsIt(boolean keptAlive) {
        PermitGrant grant = acquire(HOUR, keptAlive);
        takeAway(grant);

        assertLost(() -> grant.renew(HOUR));
        assertLost(() -> node.semaphores().renew(grant.externalId(), HOUR));

        assertThat(grant.isHeld()).isFalse();
        assertThat(node.events().of("lost")).containsExactly(toldHere(grant));
    }

    @Test
    void isToldWhenAGrantExpiresThatGotItsTimeToLiveLater() {
        PermitGrant grant = node.semaphores()
                .acquire(AcquireRequest.of(node.semaphore(1)).withoutTtl())
                .renew(Duration.ofSeconds(1));

        Awaitility.await("the report")
                .atMost(SOON)
                .until(() -> !node.events().of("lost").isEmpty());

        assertThat(grant.isHeld()).isFalse();
        assertThat(node.events().subjects("lost")).containsExactly(grant.externalId());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isToldWhenACheckFindsIt(boolean keptAlive) {
        PermitGrant grant = acquire(HOUR, keptAlive);
        PermitGrant found = node.semaphores().find(grant.externalId()).orElseThrow();
        takeAway(grant);

        assertLost(() -> check(node, grant));
        assertLost(() -> check(node, found));

        assertThat(List.of(grant, found)).noneMatch(PermitGrant::isHeld);
        assertThat(node.events().of("lost")).containsExactly(toldHere(grant));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isToldWhenTheInstanceItselfReleasesItByForce(boolean keptAlive) {
        PermitGrant grant = acquire(HOUR, keptAlive);

        ReleaseOutcome outcome = node.admin().forceRelease(grant.externalId(), "operator", "a drill");

        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(grant.isHeld()).isFalse();
        assertThat(node.events().of("lost")).containsExactly(toldHere(grant));
    }

    /** The forced release waits for the transaction that is open, and the work goes on until then. */
    @Test
    void isToldWhenAForcedReleaseThatWasDeferredIsDone() {
        PermitGrant grant = acquire(HOUR, true);

        ReleaseOutcome outcome = node.transaction().execute(status -> {
            node.semaphores().requireHeld(grant);
            return node.admin().forceRelease(grant.externalId(), "operator", "a drill");
        });

        assertThat(outcome).isEqualTo(ReleaseOutcome.DEFERRED);
        Awaitility.await("the deferred release")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
        assertThat(grant.isHeld()).isFalse();
    }

    @Test
    void endsTheKeepAlive() {
        PermitGrant grant = acquire(Duration.ofSeconds(6), true);
        takeAway(grant);

        assertLost(() -> check(node, grant));

        node.gate().clear();
        Awaitility.await("longer than a third of the TTL, after which it would have been due")
                .during(Duration.ofSeconds(3))
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(node.gate().count("permit_request")).isZero());
        assertThat(node.events().of("lost")).hasSize(1);
    }

    @Test
    void isToldOnceWhenTheKeepAliveFindsItToo() {
        PermitGrant grant = acquire(Duration.ofSeconds(9), true);
        takeAway(grant);
        Pause notRenewed = node.gate().pauseAfter("from permit_request where id in");
        notRenewed.awaitReached(SOON);

        assertLost(() -> grant.renew(HOUR));
        Event once = toldHere(grant);
        notRenewed.open();

        Awaitility.await("the keep-alive to have found it")
                .during(Duration.ofSeconds(1))
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().of("lost")).containsExactly(once));
    }

    /** The holder is notified; this handle must only not report that the grant is held. */
    @Test
    void isNotToldWhereItWasNotHeld() {
        PermitGrant grant = acquire(HOUR, false);
        PermitGrant found = other.semaphores().find(grant.externalId()).orElseThrow();
        takeAway(grant);

        assertLost(() -> check(other, found));

        assertThat(found.isHeld()).isFalse();
        assertThat(other.events().of("lost")).isEmpty();
        assertThat(node.events().of("lost")).isEmpty();
    }

    /** The database has answered that there is no such grant, just before it is acquired. */
    @Test
    void isNotConcludedFromAnAnswerThatIsOlderThanTheGrant() throws Exception {
        String renewed = UUID.randomUUID().toString();
        String forced = UUID.randomUUID().toString();
        Pause renewal = node.gate().pauseAfter("r.external_id in");
        Future<?> lost = Concurrently.async(() -> {
            assertLost(() -> node.semaphores().renew(renewed, HOUR));
            return null;
        });
        renewal.awaitReached(SOON);
        Pause release = node.gate().pauseAfter("r.external_id in");
        Future<ReleaseOutcome> notFound =
                Concurrently.async(() -> node.admin().forceRelease(forced, "operator", "a drill"));
        release.awaitReached(SOON);
        List<PermitGrant> grants = Stream.of(renewed, forced)
                .map(id -> node.semaphores()
                        .acquire(AcquireRequest.of(node.semaphore(1))
                                .withExternalId(id)
                                .withKeepAlive(true)))
                .toList();

        renewal.open();
        release.open();

        Concurrently.get(lost);
        assertThat(Concurrently.get(notFound)).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(grants).allMatch(PermitGrant::isHeld);
        assertThat(node.events().of("lost")).isEmpty();
    }

    private PermitGrant acquire(Duration ttl, boolean keptAlive) {
        return node.semaphores()
                .acquire(AcquireRequest.of(node.semaphore(1)).withTtl(ttl).withKeepAlive(keptAlive));
    }

    private void takeAway(PermitGrant grant) {
        other.admin().forceRelease(grant.externalId(), "operator", "a drill");
    }

    private static void check(Node checking, PermitGrant grant) {
        checking.transaction()
                .executeWithoutResult(status -> checking.semaphores().requireHeld(grant));
    }

    private static void assertLost(Runnable finding) {
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(finding::run);
    }

    private static Event toldHere(PermitGrant grant) {
        return new Event("lost", grant.externalId(), Thread.currentThread().getName());
    }
}
