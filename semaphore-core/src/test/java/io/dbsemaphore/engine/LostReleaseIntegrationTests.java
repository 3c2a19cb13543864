package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.Wish;
import java.time.Duration;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** The network or the database fails while permits are given back. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostReleaseIntegrationTests extends LostDatabaseFixture {

    private static final String UPDATE = "update permit_request";

    LostReleaseIntegrationTests() {
        super(2, 1); // so short that a server that stopped answering is given up soon
    }

    @ParameterizedTest
    @EnumSource
    void saysReleasedWhenTheAnswerWasLost(Wish wish) {
        AcquireRequest request = wish.on(other);
        PermitGrant grant = node.semaphores().acquire(request);
        proxy.dropNextCommitAnswer(UPDATE);

        ReleaseOutcome outcome = grant.release();

        proxy.awaitDropped(SOON);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
        assertThat(other.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
    }

    /** Otherwise its caller would believe that its work was protected until then. */
    @Test
    void doesNotSayReleasedWhenAnotherInstanceHasReclaimedTheGrant() {
        String name = Wish.SEVERAL_NAMES_WITH_ID
                .on(other)
                .permits()
                .keySet()
                .iterator()
                .next();
        AcquireRequest all = AcquireRequest.of(name).exclusive();
        PermitGrant expired = node.semaphores().acquire(all.withTtl(AcquireRequest.MIN_TTL));
        PermitGrant next = other.semaphores().acquire(all.withWaitTime(Duration.ofSeconds(20)));
        proxy.dropNextCommitAnswer(UPDATE);

        ReleaseOutcome outcome = expired.release();

        proxy.awaitDropped(SOON);
        assertThat(outcome).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        next.release();
    }

    @Test
    void doesNotSayReleasedWhenAnotherInstanceReclaimsTheGrantBeforeTheNextAttempt() throws Exception {
        AcquireRequest request = AcquireRequest.of(other.semaphore(1));
        PermitGrant grant = node.semaphores().acquire(request.withTtl(AcquireRequest.MIN_TTL));
        Pause first = node.gate().pauseBefore("update permit set");
        Future<ReleaseOutcome> release = Concurrently.async(grant::release);
        first.awaitReached(SOON);
        proxy.dropNextCommit(UPDATE);
        Pause second = node.gate().pauseBefore("update permit set");
        first.open();
        second.awaitReached(SOON);

        PermitGrant next = other.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(20)));
        second.open();

        assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(node.events().endings(grant.externalId())).isEmpty();
        next.release();
    }

    @Test
    void listenersDoNotHearOfAReleaseWhenAnotherInstanceReclaimsTheGrantBeforeTheAttemptInTheBackground()
            throws Exception {
        AcquireRequest request = AcquireRequest.of(other.semaphore(1));
        try (Node hasty = Node.behind(proxy, schema, 2, TestSettings.limits(1, 10, 1))) {
            PermitGrant grant = hasty.semaphores().acquire(request.withTtl(AcquireRequest.MIN_TTL));
            Pause first = hasty.gate().pauseBefore("update permit set");
            Future<ReleaseOutcome> release = Concurrently.async(grant::release);
            first.awaitReached(SOON);
            proxy.dropNextCommit(UPDATE);
            Pause background = hasty.gate().pauseBefore("update permit set");
            first.open();
            assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.DEFERRED);
            background.awaitReached(SOON);

            PermitGrant next = other.semaphores().acquire(request.withWaitTime(Duration.ofSeconds(20)));
            background.open();

            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
            hasty.stop(); // waits for the release in the background
            assertThat(hasty.events().endings(grant.externalId())).isEmpty();
        }
    }

    @Test
    void saysReleasedByIdWhenTheAnswerWasLost() {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(other);
        PermitGrant grant = other.semaphores().acquire(request);
        proxy.dropNextCommitAnswer(UPDATE);

        ReleaseOutcome outcome = node.semaphores().release(grant.externalId());

        proxy.awaitDropped(SOON);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
    }

    @Test
    void releasesByTheNextAttemptWhenTheCommitWasLost() {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(other);
        PermitGrant grant = node.semaphores().acquire(request);
        proxy.dropNextCommit(UPDATE);

        ReleaseOutcome outcome = grant.release();

        proxy.awaitDropped(SOON);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
    }

    @Test
    void doesNotWaitForAServerThatStoppedAnswering() {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(other);
        PermitGrant grant = node.semaphores().acquire(request);
        proxy.silenceNextCommitAnswer(UPDATE);
        long begun = System.nanoTime();

        ReleaseOutcome outcome = grant.release();

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(SOON);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
    }

    @Test
    void returnsTheResultOfTheWorkAndReleasesOnceTheDatabaseIsBack() {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(other);

        String result = node.semaphores().execute(request, grant -> {
            loseDatabase();
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(request.permits().keySet())
                .allSatisfy(name -> assertThat(rows.held(name)).isEqualTo(1));
        proxy.refuse(false);
        rows.awaitNothingHeld(SOON, request.permits().keySet());
    }

    @Test
    void throwsTheFailureOfTheWorkWithoutThatOfTheRelease() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(other);
        IllegalStateException failure = new IllegalStateException("the work failed");

        assertThatThrownBy(() -> node.semaphores().executeWithoutResult(request, grant -> {
                    loseDatabase();
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(failure.getSuppressed()).isEmpty();
        proxy.refuse(false);
        rows.awaitNothingHeld(SOON, request.permits().keySet());
    }

    @Test
    void isDeferredByTheHandleAndDoneOnceTheDatabaseIsBack() {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(other);
        PermitGrant grant = node.semaphores().acquire(request);
        loseDatabase();

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);

        assertThat(grant.isHeld()).isFalse();
        proxy.refuse(false);
        rows.awaitNothingHeld(SOON, request.permits().keySet());
    }

    @Test
    void isNoFailureOfWorkInTryWithResources() {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(other);
        try (PermitGrant grant = node.semaphores().acquire(request)) {
            loseDatabase();
            assertThat(grant.isHeld()).isTrue();
        }

        proxy.refuse(false);
        rows.awaitNothingHeld(SOON, request.permits().keySet());
    }

    @Test
    void isLoggedByCloseWhereNothingRepeatsIt() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(other).withReleaseAtShutdown(false);
        PermitGrant grant = node.semaphores().acquire(request);
        loseDatabase();
        node.close();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(PermitGrant.class);
        log.start();
        logger.addAppender(log);
        try {
            grant.close();
        } finally {
            logger.detachAppender(log);
        }

        assertThat(grant.isHeld()).isFalse();
        assertThat(log.list)
                .singleElement()
                .satisfies(event -> assertThat(event.getFormattedMessage())
                        .contains(grant.externalId(), "cannot be repeated", "TTL"));
        assertThat(other.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void isDeferredWhenItCannotFindOutWhatBecameOfTheRelease() {
        AcquireRequest request = Wish.ONE_NAME.on(other);
        try (Node hasty = Node.behind(proxy, schema, 2, TestSettings.limits(1, 10, 1))) {
            PermitGrant grant = hasty.semaphores().acquire(request);
            proxy.dropNextCommit(UPDATE);

            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);

            proxy.awaitDropped(SOON);
            rows.awaitNothingHeld(SOON, request.permits().keySet());
        }
    }

    @Test
    void listenersHearOfAReleaseWhoseLastAttemptWasCommittedWithoutAnAnswer() {
        try (Node hasty = Node.behind(proxy, schema, 2, TestSettings.limits(1, 10, 1))) {
            PermitGrant grant = hasty.semaphores().acquire(Wish.ONE_NAME.on(other));
            proxy.dropNextCommitAnswer(UPDATE);

            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);

            proxy.awaitDropped(SOON);
            Awaitility.await()
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(hasty.events().endings(grant.externalId()))
                            .containsExactly("released " + grant.externalId()));
        }
    }
}
