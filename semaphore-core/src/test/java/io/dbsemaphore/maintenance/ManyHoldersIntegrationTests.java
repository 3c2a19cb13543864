package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Semaphores with so many holders that no acquire may look at each of them. */
@Slow
class ManyHoldersIntegrationTests {

    private static final int HOLDERS = 20_000;

    /** A transaction of H2 that reads so many rows takes as long as callers wait for its locks on a busy machine. */
    private static final int EXPIRED = TestDatabase.kind() == DatabaseKind.H2 ? 5_000 : 50_000;

    private static final int REFUSALS = 20;
    private static final Duration AN_HOUR = Duration.ofHours(1);

    /** The maximum number of requests that one acquire reclaims. */
    private static final int MOST = 500;

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800));

    private final Node node = instances.first();
    private final Backlog backlog = new Backlog(instances);

    @BeforeEach
    void begin() {
        node.semaphores().tryAcquire(AcquireRequest.of(instances.semaphore(1))); // its session is there
    }

    @Test
    void anAcquireTakesBackWhatItNeedsAndLittleMore() {
        String name = instances.semaphore(EXPIRED);
        backlog.addExpired(List.of(name), EXPIRED);
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(2));

        assertThat(node.semaphores().acquire(request).isHeld()).isEqualTo(true);

        assertThat(EXPIRED + 1 - instances.held(name)).isBetween(1L, (long) MOST);
        AcquireRequest several = AcquireRequest.of(name).withPermits(name, MOST - 100);
        assertThat(node.semaphores().tryAcquire(several)).isPresent();
        instances.assertConsistent();
    }

    @Test
    void anAcquireThatNeedsAllIsAnsweredInTimeAndTheNextOnesComeFurther() {
        String name = instances.semaphore(3 * MOST);
        backlog.addExpired(List.of(name), 3 * MOST);
        AcquireRequest all = AcquireRequest.of(name).exclusive();

        assertThat(node.semaphores().tryAcquire(all)).isEmpty();
        assertThat(instances.held(name)).isEqualTo(2 * MOST);
        assertThat(node.semaphores().tryAcquire(all)).isEmpty();
        assertThat(node.semaphores().tryAcquire(all)).isPresent();
        instances.assertConsistent();
    }

    @Test
    void anAcquireTakesBackWhatIsHeldAboveALoweredCapacity() {
        String name = instances.semaphore(MOST - 100);
        backlog.addExpired(List.of(name), MOST - 100);
        node.admin().setCapacity(name, 1, "test", "less");

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();

        assertThat(instances.held(name)).isEqualTo(1);
        instances.assertConsistent();
    }

    @Test
    void findsWhatHasExpiredBehindABacklogOfAnother() {
        String full = instances.semaphore(1);
        String other = instances.semaphore(3 * MOST);
        backlog.addExpired(List.of(other, full), 3 * MOST);
        instances.jdbc().update("""
                update permit set state = 'RELEASED' where semaphore_id = (select id from semaphore where name = ?)
                and id % 1500 <> 0""", full);
        instances.jdbc().update("""
                update permit_request set expires_at = ? where id =
                (select p.id from permit p join semaphore s on s.id = p.semaphore_id where s.name = ? and p.state = 'ACQUIRED')""", Instances.ago(Duration.ofSeconds(1)), full);

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(full))).isPresent();
    }

    @Test
    void takesBackWhatADeadInstanceHeldAsItIsNeeded() {
        String name = instances.semaphore(2 * MOST);
        backlog.addHeld(List.of(name), 2 * MOST, AN_HOUR);
        backlog.keepAliveBy(4711);
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Instances.SOON);

        assertThat(node.semaphores().acquire(request).isHeld()).isEqualTo(true);

        assertThat(2 * MOST + 1 - instances.held(name)).isBetween(1L, (long) MOST);
        AcquireRequest several = AcquireRequest.of(name).withPermits(name, MOST - 100);
        assertThat(node.semaphores().tryAcquire(several)).isPresent();
        instances.assertConsistent();
    }

    /** The sum of what is held reads each permit once, from an index; nothing else of a refusal does. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void aRefusalReadsNoHolderButForTheSum() {
        String name = instances.semaphore(HOLDERS);
        backlog.addHeld(List.of(name), HOLDERS, AN_HOUR);
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

        long before = rowsRead();
        for (int i = 0; i < REFUSALS; i++) {
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        }

        assertThat((rowsRead() - before) / REFUSALS).isLessThan(HOLDERS * 3L / 2);
    }

    @Test
    void aRefusalSaysWhenTheFirstOfManyExpires() {
        String name = instances.semaphore(HOLDERS);
        backlog.addHeld(List.of(name), HOLDERS, AN_HOUR);
        Instant expiry = Instant.now().plus(AN_HOUR);
        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                    .satisfies(e -> assertThat(e.earliestExpiry().orElseThrow())
                            .isCloseTo(expiry, within(30, ChronoUnit.SECONDS)));
        }
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void aRefusalReadsNoHolderOfOthers() {
        backlog.addHeld(List.of(instances.semaphore(HOLDERS)), HOLDERS, AN_HOUR);
        String name = instances.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));

        long before = rowsRead();
        try (Node refuses = Node.on(instances.schema())) { // PostgreSQL adds what a session has read at its end
            for (int i = 0; i < REFUSALS; i++) {
                assertThat(refuses.semaphores().tryAcquire(AcquireRequest.of(name)))
                        .isEmpty();
            }
        }
        LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());

        assertThat((rowsRead() - before) / REFUSALS).isLessThan(HOLDERS / 20);
        held.release();
    }

    private static long rowsRead() {
        if (TestDatabase.kind() == DatabaseKind.POSTGRESQL) {
            Long read = instances
                    .jdbc()
                    .queryForObject(
                            "select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'permit_request'",
                            Long.class);
            return read == null ? 0 : read;
        }
        return instances.jdbc().queryForList("show global status like 'Handler_read%'").stream()
                .mapToLong(row -> Long.parseLong(String.valueOf(row.get("Value"))))
                .sum();
    }
}
