package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.node.Wish;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.DataAccessException;

/** The database goes away with the commit of an acquire, and stays away for longer than the caller. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Slow
class LostDatabaseIntegrationTests extends LostDatabaseFixture {

    private static final String INSERT = "insert into permit_request";

    LostDatabaseIntegrationTests() {
        super(1, 3);
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME", "SEVERAL_NAMES_WITH_ID"})
    void undoesACommittedAcquireOnceTheDatabaseIsBack(Wish wish) {
        AcquireRequest request = wish.on(other);

        AcquireOutcomeUnknownException unknown = acquireWithoutDatabase(request, TcpProxy::dropNextCommitAnswer);

        String id = unknown.externalId();
        assertThat(request.externalId().orElse(id)).isEqualTo(id);
        assertThat(rows.states(id)).containsExactly("ACQUIRED"); // it was committed, and its outcome was unknown

        proxy.refuse(false);

        rows.awaitNothingHeld(SOON, request.permits().keySet());
        assertNeverGrantedAnew(request, id);
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME_WITH_ID", "SEVERAL_NAMES"})
    void takesTheIdOfALostAcquireOnceTheDatabaseIsBack(Wish wish) {
        AcquireRequest request = wish.on(other);

        AcquireOutcomeUnknownException unknown = acquireWithoutDatabase(request, TcpProxy::dropNextCommit);

        String id = unknown.externalId();
        assertThat(rows.states(id)).isEmpty();
        // the lost transaction blocks nothing: it has ended with its connection
        other.semaphores().acquire(anonymous(request)).close();

        proxy.refuse(false);

        Awaitility.await()
                .atMost(SOON)
                .untilAsserted(() -> assertThat(rows.states(id)).containsExactly("RELEASED"));
        assertNeverGrantedAnew(request, id);
    }

    @Test
    void leavesAGrantThatWasRepeatedWhileTheDatabaseWasUnavailable() {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(other);
        acquireWithoutDatabase(request, TcpProxy::dropNextCommitAnswer);
        PermitGrant repeated = other.semaphores().acquire(request);
        assertThat(repeated.isReplayed()).isTrue();

        awaitUndoing();

        rows.assertHeldByOnly(repeated);
    }

    private void awaitUndoing() {
        proxy.clear();
        proxy.refuse(false);
        Awaitility.await("the undoing").atMost(SOON).until(() -> proxy.commits() > 0);
        Awaitility.await("the one connection to be free again")
                .ignoreExceptions()
                .until(() -> {
                    node.semaphores().find("none");
                    return true;
                });
    }

    @Test
    void leavesTheGrantOfAnotherCallerThatUsesTheSameId() {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(other);
        acquireWithoutDatabase(request, TcpProxy::dropNextCommit);
        PermitGrant granted = other.semaphores().acquire(request);
        assertThat(granted.isReplayed()).isFalse();

        awaitUndoing();

        rows.assertHeldByOnly(granted);
        granted.release();
    }

    @Test
    void saysSoWhenTheDatabaseIsAwayBeforeItBegins() {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(other);
        loseDatabase();
        int borrowings = node.connections().count();

        assertThatThrownBy(() -> node.semaphores().acquire(request)).isInstanceOf(DataAccessException.class);

        // perhaps once for a connection that turns out to be dead, and once in vain: the pool has waited for as long as
        // its host wants it to, and is not asked again
        assertThat(node.connections().count() - borrowings).isBetween(1, 2);
        rows.assertNothingHeld(request.permits().keySet());
        proxy.refuse(false);
        Awaitility.await().atMost(SOON).ignoreExceptions().untilAsserted(() -> {
            try (PermitGrant grant = node.semaphores().acquire(request)) {
                rows.assertHeldByOnly(grant);
            }
        });
    }

    /** Acquires with a commit that meets this fault, after which the database is away. */
    private AcquireOutcomeUnknownException acquireWithoutDatabase(AcquireRequest request, Consumer<TcpProxy> fault) {
        Pause commit = node.gate().pauseBeforeCommitOf(INSERT);
        CompletableFuture<AcquireOutcomeUnknownException> thrown =
                CompletableFuture.supplyAsync(() -> catchThrowableOfType(
                        AcquireOutcomeUnknownException.class,
                        () -> node.semaphores().acquire(request)));
        commit.awaitReached(SOON);
        proxy.refuse(true);
        fault.accept(proxy);
        commit.open();
        proxy.awaitDropped(SOON);
        return thrown.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static void assertNeverGrantedAnew(AcquireRequest request, String id) {
        rows.assertNothingHeld(request.permits().keySet());
        assertThatThrownBy(() -> other.semaphores().acquire(request.withExternalId(id)))
                .isInstanceOf(RequestAlreadyReleasedException.class);
        other.semaphores().acquire(anonymous(request)).close();
        rows.assertNothingHeld(request.permits().keySet());
    }

    private static AcquireRequest anonymous(AcquireRequest request) {
        return AcquireRequest.of(request.permits().keySet().toArray(String[]::new));
    }
}
