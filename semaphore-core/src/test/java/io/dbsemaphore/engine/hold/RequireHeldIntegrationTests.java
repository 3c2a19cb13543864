package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A business transaction cannot commit on a permit that was taken away: not when it was taken before the check, and after
 * it the taking waits. The host has the isolation that its database has by default, on MySQL {@code REPEATABLE READ}.
 */
@Promise
class RequireHeldIntegrationTests extends RequireHeldFixture {

    private static final Duration SOON = Duration.ofSeconds(20);

    /** Well below the lock wait timeout: a caller that waits for a lock takes longer. */
    private static final Duration WITHOUT_WAITING = Duration.ofSeconds(4);

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void theHostIsAtRepeatableRead() {
        String query = "select @@session." + cluster.schema().isolationVariable();
        String isolation = node.transaction().execute(status -> node.jdbc().queryForObject(query, String.class));

        assertThat(isolation).isEqualTo("REPEATABLE-READ");
    }

    @Test
    void failsTheTransactionOfAPermitThatWasTakenAwayBefore() {
        PermitGrant grant = acquire();
        assertThat(other.admin().forceRelease(grant.externalId(), "operator", "stuck"))
                .isEqualTo(ReleaseOutcome.RELEASED);

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> node.transaction().executeWithoutResult(status -> {
                    doBusiness();
                    node.semaphores().requireHeld(grant);
                }))
                .withMessageContainingAll(grant.externalId(), name)
                .satisfies(e -> assertThat(e.externalId()).isEqualTo(grant.externalId()));

        assertThat(businessDone()).isZero();
    }

    @Test
    void failsTheTransactionOfAPermitThatWasTakenAwaySinceItsSnapshot() {
        PermitGrant grant = acquire();

        assertThatThrownBy(() -> node.transaction().executeWithoutResult(status -> {
                    node.jdbc().queryForList("select * from permit");
                    other.semaphores().release(grant.externalId());
                    doBusiness();
                    node.semaphores().requireHeld(grant);
                }))
                .isInstanceOf(locksItsSnapshotOnly() ? DataAccessException.class : PermitLostException.class);

        assertThat(businessDone()).isZero();
    }

    @Test
    void failsTheTransactionOfAPermitThatSomeoneElseHasByNow() {
        PermitGrant grant = acquire();
        cluster.expire(grant.externalId());
        other.semaphores().acquire(AcquireRequest.of(name));

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> requireHeldInTransaction(grant))
                .withMessageContaining(grant.externalId());
    }

    /** What a host may catch, to try its transaction again, whatever the database says. */
    @ParameterizedTest
    @CsvSource({
        "1020, HY000", // innodb_snapshot_isolation (MariaDB)
        "1205, HY000", // lock wait timeout
        "1213, 40001", // deadlock
        "3101, 40000", // certification (Group Replication)
        "0, 55P03", // lock_timeout (PostgreSQL)
        "50200, HYT00" // lock timeout (H2)
    })
    void saysThatAnotherTransactionWasInTheWay(int code, String state) {
        PermitGrant grant = acquire();
        SQLException conflict = new SQLException("on purpose", state, code);
        node.gate().failBefore("from permit where id", conflict);

        assertThatExceptionOfType(ConcurrencyFailureException.class)
                .isThrownBy(() -> requireHeldInTransaction(grant))
                .withCause(conflict)
                .withMessageContaining(grant.externalId());

        assertThat(grant.isHeld()).isTrue();
        requireHeldInTransaction(grant);
    }

    @Test
    void holdsAForcedReleaseBackUntilTheTransactionEnds() throws Exception {
        PermitGrant grant = acquire();

        Future<ReleaseOutcome> release = node.transaction().execute(status -> {
            node.semaphores().requireHeld(grant);
            Future<ReleaseOutcome> forced = Concurrently.async(() -> {
                ReleaseOutcome outcome = other.admin().forceRelease(grant.externalId(), "operator", "stuck");
                assertThat(businessDone())
                        .as("committed before the release is done")
                        .isEqualTo(1);
                return outcome;
            });
            await().atMost(SOON).until(() -> other.gate().count("update permit set state") > 0);
            Concurrently.assertWaits(forced);
            doBusiness();
            return forced;
        });

        assertThat(release).isNotNull();
        assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void locksThePermitAndNoGap() {
        List<String> names = cluster.semaphores(2, 1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(names.get(0), names.get(1)));
        JdbcTemplate jdbc = cluster.schema().jdbc();

        List<String> locks = node.transaction().execute(status -> {
            node.semaphores().requireHeld(grant);
            return jdbc.queryForList(
                    "select concat(object_name, ' ', index_name, ' ', lock_mode, ' ', lock_data)"
                            + " from performance_schema.data_locks where object_schema = ? and lock_type = 'RECORD'",
                    String.class,
                    cluster.schema().name());
        });

        assertThat(locks)
                .containsExactlyInAnyOrderElementsOf(jdbc.queryForList(
                        "select concat('permit PRIMARY S,REC_NOT_GAP ', p.id) from permit p"
                                + " join permit_request r on r.id = p.permit_request_id where r.external_id = ?",
                        String.class,
                        grant.externalId()));
    }

    @Test
    void seesAGrantThatIsYoungerThanTheSnapshotOfTheTransaction() {
        assumeThat(locksItsSnapshotOnly()).as("innodb_snapshot_isolation").isFalse();

        node.transaction().executeWithoutResult(status -> {
            node.jdbc().queryForList("select * from permit");
            PermitGrant grant = acquire();
            node.semaphores().requireHeld(grant);
            doBusiness();
        });

        assertThat(businessDone()).isEqualTo(1);
    }

    @Test
    void checksAGrantThatAnotherNodeMade() {
        PermitGrant grant = other.semaphores().acquire(AcquireRequest.of(name));

        requireHeldInTransaction(grant);
        requireHeldInTransaction(node.semaphores().find(grant.externalId()).orElseThrow());

        grant.release();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeldInTransaction(grant));
    }

    @Measured
    @Test
    void letsOthersAcquireAndReleaseWhileACheckedTransactionIsOpen() {
        String shared = cluster.semaphore(5);
        PermitGrant neighbour = other.semaphores().acquire(AcquireRequest.of(shared));
        PermitGrant neighbourToo = other.semaphores().acquire(AcquireRequest.of(shared));
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(shared));

        long begin = System.nanoTime();
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            neighbour.release();
            neighbourToo.renew(Duration.ofMinutes(1)).release();
            other.semaphores().acquire(AcquireRequest.of(shared).withPermits(shared, 2));
            other.semaphores().acquire(AcquireRequest.of(shared, name)).release();
            node.semaphores().requireHeld(grant);
            grant.renew(Duration.ofMinutes(1));
        });

        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        assertThat(cluster.held(shared)).isEqualTo(3);
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    /** There a plain read locks what it reads, on MySQL and MariaDB. */
    @Measured
    @Test
    void letsOthersAcquireAlsoBesideASerializableTransaction() {
        String shared = cluster.semaphore(2);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(shared));
        TransactionTemplate serializable = node.transaction();
        serializable.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);

        long begin = System.nanoTime();
        serializable.executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            other.semaphores().acquire(AcquireRequest.of(shared)).release();
        });

        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    @Measured
    @Test
    void anExpiryPassesOverACheckedGrantWithoutWaiting() {
        PermitGrant grant = acquire();
        cluster.expire(grant.externalId());

        long begin = System.nanoTime();
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        });

        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).hasValueSatisfying(PermitGrant::release);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeldInTransaction(grant));
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    @Measured
    @Test
    void anExpiryOfManyPassesOverTheCheckedOneAmongThem() {
        String shared = cluster.semaphore(20);
        List<PermitGrant> grants = IntStream.range(0, 20)
                .mapToObj(i -> node.semaphores().acquire(AcquireRequest.of(shared)))
                .toList();
        grants.forEach(grant -> cluster.expire(grant.externalId()));
        PermitGrant checked = grants.get(7);

        long begin = System.nanoTime();
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(checked);
            assertThat(other.semaphores().tryAcquire(AcquireRequest.of(shared).withPermits(shared, 19)))
                    .isPresent();
            assertThat(other.semaphores().tryAcquire(AcquireRequest.of(shared))).isEmpty();
        });

        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        assertThat(node.semaphores().find(checked.externalId())).isPresent();
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    /** MariaDB from 11.6 on refuses to lock, at {@code REPEATABLE READ}, what has changed since the snapshot. */
    private static boolean locksItsSnapshotOnly() {
        JdbcTemplate jdbc = cluster.schema().jdbc();
        return cluster.schema().kind() == DatabaseKind.MARIADB
                && jdbc.queryForList("show variables like 'innodb_snapshot_isolation'").stream()
                        .anyMatch(variable -> variable.containsValue("ON"));
    }
}
