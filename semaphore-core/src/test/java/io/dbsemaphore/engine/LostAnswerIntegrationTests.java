package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.node.Wish;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.DataAccessException;

/** The network loses a commit of an acquire or its answer, and works again at once. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class LostAnswerIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String INSERT = "insert into permit_request";

    private static Schema schema;
    private static SemaphoreRows rows;
    private static TcpProxy proxy;
    private static Node node;
    private static Node nodeOfOneAttempt;
    /** A server that does not answer is given up after the lock wait and the idle limit. */
    private static Node impatient;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        proxy = schema.newProxy();
        node = Node.behind(
                proxy, schema, 3, TestSettings.limits(1, 10, 3).with(SemaphoreSettings.DECISION_TIMEOUT, SOON));
        nodeOfOneAttempt = Node.behind(proxy, schema, 3, TestSettings.limits(1, 10, 1));
        impatient = Node.behind(proxy, schema, 3, TestSettings.limits(1, 1, 3));
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            node.close();
            nodeOfOneAttempt.close();
            impatient.close();
            schema.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void findsItsGrantWhenTheAnswerWasLost(Wish wish) {
        AcquireRequest request = wish.on(node);
        proxy.dropNextCommitAnswer(INSERT);

        PermitGrant grant = node.semaphores().acquire(request);

        proxy.awaitDropped(SOON);
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        assertUsableUntilReleased(request, grant);
    }

    @ParameterizedTest
    @EnumSource
    void isGrantedByTheNextAttemptWhenTheCommitWasLost(Wish wish) {
        AcquireRequest request = wish.on(node);
        proxy.dropNextCommit(INSERT);

        PermitGrant grant = node.semaphores().acquire(request);

        proxy.awaitDropped(SOON);
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        assertUsableUntilReleased(request, grant);
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME", "SEVERAL_NAMES_WITH_ID"})
    void doesNotWaitForAServerThatStoppedAnswering(Wish wish) {
        AcquireRequest request = wish.on(impatient);
        proxy.silenceNextCommitAnswer(INSERT);

        PermitGrant grant = impatient.semaphores().acquire(request);

        proxy.awaitDropped(SOON);
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        assertUsableUntilReleased(request, grant);
    }

    @Test
    void doesItsWorkOnceWhenTheAnswerWasLost() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(node);
        AtomicInteger calls = new AtomicInteger();
        proxy.dropNextCommitAnswer(INSERT);

        String result = node.semaphores().execute(request, grant -> {
            calls.incrementAndGet();
            rows.assertHeldByOnly(grant);
            return "done";
        });

        proxy.awaitDropped(SOON);
        assertThat(result).isEqualTo("done");
        assertThat(calls).hasValue(1);
        rows.assertNothingHeld(request.permits().keySet());
    }

    @Test
    void repeatsARepetitionWhenItsAnswerWasLost() {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(node);
        PermitGrant first = node.semaphores().acquire(request);
        proxy.dropNextCommitAnswer("update permit_request");

        PermitGrant second = node.semaphores().acquire(request);

        proxy.awaitDropped(SOON);
        assertThat(second.isReplayed()).isTrue();
        assertThat(request.permits().keySet())
                .allSatisfy(name -> assertThat(second.fencingToken(name)).isEqualTo(first.fencingToken(name)));
        rows.assertHeldByOnly(second);
    }

    @ParameterizedTest
    @EnumSource
    void holdsNothingWhenThereIsNoAttemptLeftToFindTheGrant(Wish wish) {
        AcquireRequest request = wish.on(nodeOfOneAttempt);
        proxy.dropNextCommitAnswer(INSERT);

        assertThatThrownBy(() -> nodeOfOneAttempt.semaphores().acquire(request))
                .isInstanceOf(DataAccessException.class);

        proxy.awaitDropped(SOON);
        assertNothingHeldAndNeverGranted(request);
    }

    @ParameterizedTest
    @EnumSource
    void holdsNothingWhenThereIsNoAttemptLeftAfterALostCommit(Wish wish) {
        AcquireRequest request = wish.on(nodeOfOneAttempt);
        proxy.dropNextCommit(INSERT);

        assertThatThrownBy(() -> nodeOfOneAttempt.semaphores().acquire(request))
                .isInstanceOf(DataAccessException.class);

        proxy.awaitDropped(SOON);
        assertNothingHeldAndNeverGranted(request);
    }

    @Test
    void doesNotUndoTheGrantOfAnotherWhenItsOwnRepetitionFails() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(node);
        PermitGrant grant = node.semaphores().acquire(request);
        proxy.dropNextCommitAnswer("update permit_request");

        assertThatThrownBy(() -> nodeOfOneAttempt.semaphores().acquire(request))
                .isInstanceOf(DataAccessException.class);

        proxy.awaitDropped(SOON);
        rows.assertHeldByOnly(grant);
    }

    @Test
    void findsItsGrantWhenTheFailureOfTheCommitIsNoAnswerOfTheServer() {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        node.gate().failAfter("commit", new SQLException("Connection is closed")); // as pools say it, without a state

        PermitGrant grant = node.semaphores().acquire(request);

        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        assertUsableUntilReleased(request, grant);
    }

    @Test
    void waitsUntilTheGrantIsUndoneAlsoForACallerThatWouldWaitIndefinitely() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(node).withWaitTime(ChronoUnit.FOREVER.getDuration());
        Pause commit = node.gate().pauseBeforeCommitOf(INSERT);
        CompletableFuture<PermitGrant> acquired =
                CompletableFuture.supplyAsync(() -> node.semaphores().acquire(request));
        commit.awaitReached(SOON);
        node.gate().failAfter("commit", new SQLException("Connection is closed"));
        node.gate().failBefore("from permit_request", new SQLException("SELECT denied", "42000")); // the next attempt
        commit.open();

        assertThat(acquired)
                .failsWithin(SOON)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(DataAccessException.class)
                .havingRootCause()
                .withMessage("SELECT denied");

        assertNothingHeldAndNeverGranted(request);
    }

    @Test
    void beginsTheTimeToLiveAnewIfItHasPassedBeforeTheGrantWasFound() throws Exception {
        AcquireRequest request = Wish.ONE_NAME.on(node);
        CompletableFuture<PermitGrant> acquired = acquireWithAnswerLostAndTtlPassed(request);

        node.gate().open();

        PermitGrant grant = Concurrently.get(acquired);

        assertThat(grant.isHeld()).isTrue();
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        assertUsableUntilReleased(request, grant);
    }

    @Test
    void isUndoneForACallerThatHasLeftAlsoIfItsTimeToLiveHasBegunAnew() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(node).withTtl(Duration.ofSeconds(1));

        acquireWithAnswerLost(request, acquired -> {
            Awaitility.await().pollDelay(Duration.ofMillis(1_300)).until(() -> true);
            acquired.cancel(false);
        });

        String id = request.externalId().orElseThrow();
        Awaitility.await().atMost(SOON).until(() -> rows.states(id).equals(List.of("RELEASED")));
        assertFree(request.permits().keySet());
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME", "ONE_NAME_WITH_ID"})
    void isLostIfOthersHaveTakenItBeforeItWasFound(Wish wish) {
        AcquireRequest request = wish.on(node);
        CompletableFuture<PermitGrant> acquired = acquireWithAnswerLostAndTtlPassed(request);
        AcquireRequest others = AcquireRequest.of(request.permits().keySet().toArray(String[]::new));
        PermitGrant reclaimed = nodeOfOneAttempt.semaphores().acquire(others.withWaitTime(SOON));

        node.gate().open();

        assertThat(acquired)
                .failsWithin(SOON)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(
                        request.externalId().isPresent()
                                ? RequestAlreadyReleasedException.class
                                : PermitLostException.class);
        reclaimed.release();
        rows.assertNothingHeld(request.permits().keySet());
    }

    /** The gate is before the statement that finds the grant. */
    private static CompletableFuture<PermitGrant> acquireWithAnswerLostAndTtlPassed(AcquireRequest request) {
        CompletableFuture<PermitGrant> acquired =
                acquireWithAnswerLost(request, unchanged -> node.gate().pauseBefore("r.external_id in"));
        node.gate().awaitReached(SOON);
        schema.jdbc().update("update permit_request set expires_at = created_at where state = 'ACQUIRED'");
        return acquired;
    }

    private static CompletableFuture<PermitGrant> acquireWithAnswerLost(
            AcquireRequest request, Consumer<CompletableFuture<PermitGrant>> meanwhile) {
        Pause commit = node.gate().pauseBeforeCommitOf(INSERT);
        CompletableFuture<PermitGrant> acquired = node.semaphores().acquireAsync(request);
        commit.awaitReached(SOON);
        node.gate().failAfter("commit", new SQLException("Connection is closed"));
        meanwhile.accept(acquired);
        commit.open();
        return acquired;
    }

    private static void assertUsableUntilReleased(AcquireRequest request, PermitGrant grant) {
        AcquireRequest others = AcquireRequest.of(grant.permits().keySet().toArray(String[]::new));
        assertThat(node.semaphores().tryAcquire(others)).isEmpty();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
        assertFree(request.permits().keySet());
    }

    private static void assertNothingHeldAndNeverGranted(AcquireRequest request) {
        rows.assertNothingHeld(request.permits().keySet());
        assertFree(request.permits().keySet());
        request.externalId().ifPresent(id -> {
            assertThat(rows.states(id)).containsExactly("RELEASED");
            assertThatThrownBy(() -> node.semaphores().acquire(request))
                    .isInstanceOf(RequestAlreadyReleasedException.class);
        });
    }

    private static void assertFree(Set<String> names) {
        node.semaphores()
                .acquire(AcquireRequest.of(names.toArray(String[]::new)))
                .close();
    }
}
