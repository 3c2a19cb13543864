package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.persistence.UndoTransaction;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.node.Waits;
import io.dbsemaphore.testing.node.Wish;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.DataAccessException;

/** A commit whose sender has given it up is still under way: not to find the request proves nothing then. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class LateCommitIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    /** A statement of an undo waits for a second: whoever waits for its locks takes as long. */
    private static final Duration FREE = Duration.ofMillis(700);

    private static Schema schema;
    private static SemaphoreRows rows;
    private static Node other;
    private static LateCommits network;
    private static SemaphoreEngine engine;
    private static SemaphoreEngine impatientEngine;
    private static SemaphoreEngine engineOfLongUndo;

    private Waits waits;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        other = Node.on(schema);
        network = new LateCommits(schema);
        engine = new SemaphoreEngine(network, TestSettings.limits(5, 20, 3));
        SemaphoreSettings impatient = TestSettings.limits(3, 20, 2);
        impatientEngine = new SemaphoreEngine(network, impatient);
        engineOfLongUndo = new SemaphoreEngine(
                network, impatient.with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(20)));
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            engine.close();
            impatientEngine.close();
            engineOfLongUndo.close();
            other.close();
            schema.close();
        }
    }

    @BeforeEach
    void look() {
        waits = new Waits(schema);
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME", "SEVERAL_NAMES_WITH_ID"})
    void findsTheGrantOfACommitThatArrivesLate(Wish wish) throws SQLException {
        AcquireRequest request = wish.on(other);

        CompletableFuture<PermitGrant> acquired = acquireWithDelayedCommit(engine, request);
        waits.await("from semaphore");
        network.arrive();

        PermitGrant grant =
                acquired.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        grant.release();
        rows.assertNothingHeld(request.permits().keySet());
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME", "SEVERAL_NAMES_WITH_ID"})
    void isGrantedOnceTheLostTransactionIsOver(Wish wish) throws SQLException {
        AcquireRequest request = wish.on(other);

        CompletableFuture<PermitGrant> acquired = acquireWithDelayedCommit(engine, request);
        waits.await("from semaphore");
        network.getLost();

        PermitGrant grant =
                acquired.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        grant.release();
        rows.assertNothingHeld(request.permits().keySet());
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME_WITH_ID", "SEVERAL_NAMES"})
    void releasesWhatIsCommittedWhileItUndoes(Wish wish) throws SQLException {
        AcquireRequest request = wish.on(other);

        CompletableFuture<Throwable> failed = failureOf(acquireWithDelayedCommit(engineOfLongUndo, request)::join);
        awaitUndo();
        network.arrive();

        assertThat(failed.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join())
                .cause()
                .isInstanceOf(DataAccessException.class);
        rows.assertNothingHeld(request.permits().keySet());
        assertNeverGrantedAnew(request);
    }

    @Slow
    @ParameterizedTest
    @EnumSource(names = "SEVERAL_NAMES_WITH_ID")
    void releasesWhatIsCommittedLongAfterTheCallerWasTold(Wish wish) throws SQLException {
        AcquireRequest request = wish.on(other);
        network.delayNextCommit();

        assertThatThrownBy(() -> template(impatientEngine).acquire(request))
                .isInstanceOf(AcquireOutcomeUnknownException.class);
        network.arrive();

        Awaitility.await()
                .atMost(SOON)
                .until(() -> rows.states(request.externalId().orElseThrow()), List.of("RELEASED")::equals);
        rows.assertNothingHeld(request.permits().keySet());
        assertNeverGrantedAnew(request);
    }

    @Slow
    @ParameterizedTest
    @EnumSource(names = "ONE_NAME_WITH_ID")
    void takesTheIdWhenTheCommitNeverArrives(Wish wish) throws SQLException {
        AcquireRequest request = wish.on(other);
        network.delayNextCommit();

        assertThatThrownBy(() -> template(impatientEngine).acquire(request))
                .isInstanceOf(AcquireOutcomeUnknownException.class);
        network.getLost();

        Awaitility.await()
                .atMost(SOON)
                .until(() -> rows.states(request.externalId().orElseThrow()), List.of("RELEASED")::equals);
        assertNeverGrantedAnew(request);
    }

    /** On InnoDB, an insert that waits for a duplicate blocks those of all ids between it and the id before. */
    @Slow
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    @Measured
    @Test
    void delaysNoExternalIdThatSortsNextToWhatItUndoes() throws SQLException {
        String externalId = "!" + UUID.randomUUID(); // below all generated ids
        AcquireRequest undone = Wish.ONE_NAME.on(other).withExternalId(externalId);
        AcquireRequest next = Wish.ONE_NAME.on(other);

        network.delayNextCommit();
        assertThatThrownBy(() -> template(impatientEngine).acquire(undone))
                .isInstanceOf(AcquireOutcomeUnknownException.class);
        awaitUndo();
        waits.await("where external_id = ");
        long begun = System.nanoTime();
        other.semaphores()
                .acquire(next.withExternalId("!" + externalId).withWaitTime(SOON))
                .release();
        Duration delay = Duration.ofNanos(System.nanoTime() - begun);

        network.arrive();
        Awaitility.await().atMost(SOON).until(() -> rows.states(externalId), List.of("RELEASED")::equals);
        assertNeverGrantedAnew(undone);
        Measurement.check(() -> assertThat(delay).isLessThan(FREE));
    }

    /** The statement alone does not tell: a retried acquire, which has ended by then, may wait for its external id, too. */
    private void awaitUndo() {
        Awaitility.await("an undo")
                .atMost(SOON)
                .until(() -> Thread.getAllStackTraces().values().stream()
                        .flatMap(Arrays::stream)
                        .anyMatch(frame -> frame.getClassName().equals(UndoTransaction.class.getName())));
        waits.await(" permit_request");
    }

    private static CompletableFuture<PermitGrant> acquireWithDelayedCommit(
            SemaphoreEngine engine, AcquireRequest request) {
        network.delayNextCommit();
        return CompletableFuture.supplyAsync(() -> template(engine).acquire(request));
    }

    private static CompletableFuture<Throwable> failureOf(Supplier<?> action) {
        return CompletableFuture.supplyAsync(() -> catchThrowable(action::get));
    }

    private static SemaphoreTemplate template(SemaphoreEngine engine) {
        return new SemaphoreTemplate(engine.permitManager());
    }

    private static void assertNeverGrantedAnew(AcquireRequest request) {
        if (request.externalId().isPresent()) {
            assertThatThrownBy(() -> other.semaphores().acquire(request))
                    .isInstanceOf(RequestAlreadyReleasedException.class);
        }
        AcquireRequest anonymous = AcquireRequest.of(request.permits().keySet().toArray(String[]::new));
        other.semaphores().acquire(anonymous).close();
        rows.assertNothingHeld(request.permits().keySet());
    }
}
