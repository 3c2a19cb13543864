package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How many callers of a queue wait, where three may. */
class LineRoomTests extends WorkQueueFixture {

    private static final GrantOutcome REFUSED = new GrantOutcome.Refused(List.of(FULL));

    private final WorkQueue bounded = new WorkQueue(
            new BatchLimits(2, 500, 3, Duration.ofSeconds(5), Duration.ofSeconds(5)),
            false,
            Values.FAIR.withMaxWaiting(name -> 3, name -> false),
            queueClock);

    @Test
    void triesThoseAgainThatFindNoRoomWhenTheTransactionHasRefusedThem() {
        List<Acquire> waiters = add(5);
        end(bounded, take(5), available(0, 7), REFUSED);

        assertThat(waiters).filteredOn(each -> each.stage() == Stage.LINE).isEqualTo(waiters.subList(0, 3));
        end(bounded, take(2), available(0, 7), new GrantOutcome.Refused(List.of(lineIsFull())));
        assertThat(waiters.subList(3, 5)).extracting(Acquire::stage).containsOnly(Stage.DONE);
        assertThat(bounded.needsPolls()).as("for the others").isEqualTo(true);
    }

    @Test
    void letsACallerJoinWhileThereIsRoom() {
        List<Acquire> unused = waiting(2);

        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(false);
        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(true);
    }

    /** Otherwise it would take the room of those who came before it. */
    @Test
    void letsNobodyJoinWhileCallersAreDecidedThatMayTakeTheRoom() {
        List<Acquire> unused = waiting(1);
        assertThat(bounded.add(withExternalId())).as("is tried").isEqualTo(true);
        Batch inFlight = take(1);
        assertThat(bounded.add(withExternalId())).as("is tried").isEqualTo(true);

        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(true);

        end(bounded, inFlight, available(0, 7), REFUSED);
        end(bounded, take(2), available(0, 7), REFUSED);
        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(true);
    }

    @Test
    void aCallerThatLeavesMakesRoom() {
        List<Acquire> waiters = waiting(3);
        assertThat(bounded.cancel(waiters.get(1))).isEqualTo(true);

        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(false);
    }

    /** It may be refused again. */
    @Test
    void aCallerThatIsTriedAgainKeepsItsRoom() {
        List<Acquire> waiters = waiting(3);
        assertThat(bounded.tryFirst(List.of("backup"))).as("woken").isEqualTo(true);
        assertThat(waiters.get(0).stage()).isEqualTo(Stage.READY);
        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(true);

        end(bounded, take(2), available(0, 7), REFUSED);

        assertThat(waiters).extracting(Acquire::stage).containsOnly(Stage.LINE);
        assertThat(take(1).members()).doesNotContainAnyElementsOf(waiters);
    }

    @Test
    void aCallerThatIsAboutToBeTriedAgainKeepsItsRoom() {
        List<Acquire> unused = waiting(2);
        List<Acquire> newcomers = List.of(withExternalId(), withExternalId());
        newcomers.forEach(bounded::add);
        Batch decided = take(2);
        assertThat(bounded.tryFirst(List.of("backup"))).as("woken").isEqualTo(true);

        end(bounded, decided, available(0, 7), REFUSED);

        assertThat(newcomers).extracting(Acquire::stage).containsExactly(Stage.LINE, Stage.READY);
    }

    @Test
    void aCallerThatIsInABatchAgainKeepsItsRoom() {
        List<Acquire> waiters = waiting(3);
        assertThat(bounded.tryFirst(List.of("backup"))).as("woken").isEqualTo(true);
        Batch again = take(1);

        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(true);

        end(bounded, again, available(0, 7), REFUSED);
        assertThat(waiters.get(0).stage()).isEqualTo(Stage.LINE);
    }

    @Test
    void countsTheCallersOfOtherInstances() {
        Acquire first = waiter(BACKUP);
        assertThat(bounded.add(first)).isEqualTo(true);
        end(bounded, take(1), elsewhere(1), REFUSED);
        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(false);
        assertThat(bounded.add(waiter(BACKUP))).as("is tried").isEqualTo(true);
    }

    /** It cannot join without being tried, since it may be held. */
    private Acquire withExternalId() {
        String id = UUID.randomUUID().toString();
        AcquireCommand command = new AcquireCommand(id, true, true, BACKUP, false, null, "test", null, null);
        return acquire(command, true, queueClock.in(Duration.ofMinutes(1)), queueClock);
    }

    private static Map<String, RemainingAvailability> elsewhere(int callers) {
        return Map.of("backup", Values.left(0, Values.NOW, callers));
    }

    private static PermitShortage lineIsFull() {
        return new PermitShortage("backup", 1, 1, 1, Optional.empty(), 0, 3, OptionalInt.of(3), false);
    }

    private List<Acquire> waiting(int count) {
        List<Acquire> waiters = add(count);
        end(bounded, take(count), available(0, 7), REFUSED);
        assertThat(waiters).extracting(Acquire::stage).containsOnly(Stage.LINE);
        return waiters;
    }

    private List<Acquire> add(int count) {
        List<Acquire> waiters = waiters(count);
        waiters.forEach(bounded::add);
        return waiters;
    }

    private Batch take(int count) {
        Batch batch = bounded.take(true, false);
        assertThat(batch.members()).hasSize(count);
        return batch;
    }
}
