package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.Deadline;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;

/** Acquires whose external id another transaction has inserted and not committed. */
class WorkQueueExternalIdTests extends WorkQueueFixture {

    /** The wait for an external id delays no other acquire of the semaphore, and lets none overtake another. */
    @Test
    void keepsTheOrderOfASemaphoreWhileABatchWaitsForAnExternalId() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        WorkQueue ordered = queue(3, 500, clock);
        ordered.add(withLockedExternalId(clock));
        Batch waiting = ordered.take(true, false);
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        ordered.add(acquire(command(Map.of("copy", 1)), false, Deadline.in(Duration.ZERO), clock));
        Batch inFlight = ordered.take(true, false);
        ordered.add(acquire(command(Map.of("backup", 1, "copy", 1)), false, Deadline.in(Duration.ZERO), clock));
        ordered.add(acquire(command(BACKUP), false, Deadline.in(Duration.ZERO), clock));

        assertThat(waiting.isWaiting()).isEqualTo(true);
        assertThat(inFlight.names()).containsExactly("copy");
        assertThat(ordered.take(true, false).members()).isEmpty();
    }

    /** It waits for the only slot for such waits; other acquires of the same semaphore do not wait with it. */
    @Test
    void takesOthersWhileTwoWaitForTheirExternalIds() {
        Acquire first = withLockedExternalId(QueueClock.SYSTEM);
        Acquire second = withLockedExternalId(QueueClock.SYSTEM);
        Acquire other = withoutWaitTime(BACKUP);
        List.of(first, second, other).forEach(queue::add);

        Batch waiting = queue.take(true, false);

        assertThat(waiting.members()).containsExactly(first);
        assertThat(waiting.isWaiting()).isEqualTo(true);
        assertThat(queue.nanosToWork()).isZero();
        assertThat(queue.take(true, false).members()).containsExactly(other);
    }

    /** Hold-and-wait: the transaction may have inserted the id. */
    @Test
    void waitsForAnExternalIdOrForARow() {
        Acquire acquire = withLockedExternalId(QueueClock.SYSTEM);
        acquire.setBlockedBy("backup");
        queue.add(acquire);

        Batch batch = queue.take(true, false);

        assertThat(batch.isWaiting()).isEqualTo(true);
        assertThat(batch.awaited()).isEmpty();
        end(queue, batch, Map.of(), new GrantOutcome.Postponed("backup"));
        assertThat(acquire.isExternalIdLocked()).as("locked").isEqualTo(false);
    }

    /** Otherwise no batch would wait for anything after as many such waits as there are slots for them. */
    @Test
    void endsAWaitForAnExternalIdOnce() {
        for (int i = 0; i < 3; i++) {
            Acquire waiting = withLockedExternalId(QueueClock.SYSTEM);
            queue.add(waiting);
            Batch batch = queue.take(true, false);
            assertThat(batch.members()).containsExactly(waiting);
            end(queue, batch, Map.of(), new GrantOutcome.Withdrawn());
        }
    }

    @Test
    void pausesLongerIfItHasWaitedForItsExternalIdInVain() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        WorkQueue pausing = queue(2, 500, clock);
        pausing.add(withLockedExternalId(clock));

        Settlement.Result unused = pausing.finishFailed(pausing.take(true, false), locked(), true);

        assertThat(Duration.ofNanos(pausing.nanosToWork())).isBetween(Duration.ofMillis(200), Duration.ofSeconds(1));
    }

    /** There is one slot for such waits, and the acquire that occupies it may wait in vain. */
    @Test
    void whoeverHasNotWaitedForItsExternalIdTakesTurnsWithThoseWhoHave() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        WorkQueue single = queue(2, 500, clock);
        List<Acquire> acquires =
                Stream.generate(() -> withLockedExternalId(clock)).limit(3).toList();
        acquires.forEach(single::add);

        List<Acquire> taken = new ArrayList<>();
        for (int i = 0; i < acquires.size(); i++) {
            Batch batch = single.take(true, false);
            taken.addAll(batch.members());
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            Settlement.Result unused = single.finishFailed(batch, locked(), true);
        }

        assertThat(taken).containsExactlyElementsOf(acquires);
    }

    /** The batch waited as long as a statement may, which was the whole limit, for the external id of one of its members. */
    @Test
    void doesNotRefuseAnAcquireForTheExternalIdOfAnother() {
        AtomicLong now = new AtomicLong();
        QueueClock clock = new QueueClock(now::get, bound -> 0);
        WorkQueue impatient = queue(2, 500, Duration.ofSeconds(1), clock);
        List<Acquire> acquires = Stream.of("locked", "free")
                .map(id -> new AcquireCommand(id, true, true, BACKUP, false, null, "test", null))
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

        acquire.setOutcomeUnknown(true);

        assertThat(acquire.locked(null))
                .message()
                .doesNotContain("Nothing is held")
                .contains("released again");
    }

    @Test
    void namesWhatIsLocked() {
        Acquire acquire = withLockedExternalId(QueueClock.SYSTEM);
        String externalId = acquire.command().externalId();

        assertThat(acquire.locked(null)).message().contains("external id '" + externalId + "'");
        assertThat(withoutWaitTime(BACKUP).locked(null)).message().contains("semaphores [backup]");
    }

    @Test
    void waitsForNoExternalIdOfAGrantThatCannotBeKeptAlive() {
        WorkQueue expired = queue(3, 500, QueueClock.SYSTEM);
        AcquireCommand command = new AcquireCommand("kept", true, true, BACKUP, false, null, "test", 1L);
        Acquire keptAlive = withLockedExternalId(command, QueueClock.SYSTEM);
        Acquire other = withLockedExternalId(QueueClock.SYSTEM);
        List.of(keptAlive, other).forEach(expired::add);

        assertThat(expired.take(false, false).members()).containsExactly(other);
        assertThat(expired.take(false, false).members()).isEmpty();
        assertThat(expired.take(true, false).members()).containsExactly(keptAlive);
    }

    @Test
    void waitsForNoExternalIdAfterItWasClosed() {
        Acquire acquire = withLockedExternalId(QueueClock.SYSTEM);
        queue.add(acquire);

        assertThat(queue.close()).containsExactly(acquire);

        assertThat(take().members()).isEmpty();
    }

    private static CannotAcquireLockException locked() {
        return new CannotAcquireLockException("1205", lockWait());
    }

    private static SQLException lockWait() {
        return new SQLException("Lock wait timeout exceeded", "40001", 1205);
    }

    private static Acquire withLockedExternalId(QueueClock clock) {
        return withLockedExternalId(command(BACKUP), clock);
    }

    private static Acquire withLockedExternalId(AcquireCommand command, QueueClock clock) {
        Acquire acquire = acquire(command, false, Deadline.in(Duration.ZERO), clock);
        acquire.setExternalIdLocked(true);
        acquire.isolate();
        return acquire;
    }
}
