package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.AcquireCommand;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;

/** Acquires whose external id another transaction has inserted and not committed. */
class WorkQueueExternalIdTests extends WorkQueueFixture {

    /** The transaction held the row of the semaphore meanwhile, which others need. */
    @Test
    void pausesAfterItHasWaitedForItsExternalIdInVain() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        WorkQueue pausing = queue(2, 500, clock);
        Acquire blocked = acquire(command(BACKUP), false, clock.in(Duration.ZERO), clock);
        pausing.add(blocked);
        Batch batch = pausing.take(true, false);
        assertThat(blocked.claim()).as("claimed").isTrue();

        Settlement.Result unused = pausing.finishFailed(batch, locked(), true);

        assertThat(Duration.ofNanos(pausing.nanosToWork())).isBetween(Duration.ofMillis(200), Duration.ofSeconds(1));
        Acquire other = acquire(command(BACKUP), false, clock.in(Duration.ZERO), clock);
        pausing.add(other);
        assertThat(pausing.take(true, false).members()).containsExactly(other);
    }

    @Test
    void namesWhatIsLocked() {
        Acquire acquire = withoutWaitTime(BACKUP);
        assertThat(acquire.locked(null)).message().contains("semaphores [backup]");

        acquire.found(acquire.attempt().writeBlocked(true));

        assertThat(acquire.locked(null))
                .message()
                .contains("external id '" + acquire.command().externalId() + "'", "permits of [backup]");
    }

    /** The batch waited as long as a statement may, which was the whole limit, for the external id of one of its members. */
    @Test
    void doesNotRefuseAnAcquireForTheExternalIdOfAnother() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        WorkQueue impatient = queue(2, 500, Duration.ofSeconds(1), clock);
        List<Acquire> acquires = Stream.of("locked", "free")
                .map(id -> new AcquireCommand(id, true, true, BACKUP, false, null, "test", null, null))
                .map(command -> acquire(command, false, clock.in(Duration.ZERO), clock))
                .toList();
        acquires.forEach(impatient::add);
        Batch batch = impatient.take(true, false);
        acquires.forEach(acquire -> acquire.claim());
        now.addAndGet(Duration.ofSeconds(1).toNanos());

        Settlement.Result settled = impatient.finishFailed(batch, locked(), true);

        assertThat(batch.members()).isEqualTo(acquires);
        assertThat(settled.acquires()).isEmpty();
    }

    @Test
    void doesNotSayThatNothingIsHeldWhereTheOutcomeIsUnknown() {
        Acquire acquire = withoutWaitTime(BACKUP);

        assertThat(acquire.locked(null)).message().contains("Nothing is held");

        acquire.found(acquire.attempt().unknown());

        assertThat(acquire.locked(null))
                .message()
                .doesNotContain("Nothing is held")
                .contains("released again");
    }

    private static CannotAcquireLockException locked() {
        return new CannotAcquireLockException("1205", lockWait());
    }

    private static SQLException lockWait() {
        return new SQLException("Lock wait timeout exceeded", "40001", 1205);
    }
}
