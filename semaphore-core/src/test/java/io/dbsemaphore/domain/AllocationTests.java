package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.line.LineLimit;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class AllocationTests {

    private static final LocalDateTime NOW = LocalDateTime.of(2026, 1, 1, 0, 0);

    @Test
    void countsNothingOfADecisionThatIsTakenTwice() {
        AcquireState first = acquire("first", 2);
        AcquireState second = acquire("second", 1);
        for (int decision = 0; decision < 2; decision++) {
            Allocation allocation = Allocation.of(List.of(first, second), availableOf(2));
            assertThat(allocation.approvals())
                    .extracting(Allocation.Approval::acquire)
                    .containsExactly(first);
            assertThat(allocation.refusals()).containsOnlyKeys(second);
        }
        assertThat(second.hasWaited()).as("recorded by the decision").isEqualTo(false);
        assertThat(second.isClaimed()).as("claimed").isFalse();
        assertThat(second.mayExist()).as("may exist").isFalse();
    }

    @Test
    void takesTwoAcquiresWithEqualCommandsForTwo() {
        AcquireState one = acquire("id", 1);
        AcquireState other = acquire("id", 1);
        Allocation allocation = Allocation.of(List.of(one, other), availableOf(1));
        assertThat(allocation.approvals())
                .extracting(Allocation.Approval::acquire)
                .containsExactly(one);
        assertThat(allocation.refusals()).containsOnlyKeys(other);
    }

    @Test
    void reservesWhatIsAvailableForARefusedAcquireThatWaits() {
        AcquireState waiting = acquire("waiting", 2);
        waiting.setWillingToWait(true);
        AcquireState later = acquire("later", 1);
        Allocation allocation = Allocation.of(List.of(acquire("first", 1), waiting, later), availableOf(2));
        assertThat(allocation.refusals()).containsOnlyKeys(waiting, later);
    }

    @Test
    void letsNoMoreAcquiresWaitThanMay() {
        List<AcquireState> acquires =
                List.of(acquire("first", 1), waiting(1), waiting(1), waiting(1), acquire("last", 1));
        Allocation allocation = Allocation.of(acquires, availableOf(1, new LineLimit(3, 1)));

        assertThat(acquires).filteredOn(allocation::waits).isEqualTo(acquires.subList(1, 3));
        assertThat(allocation.waiters(System.nanoTime()).get("backup")).hasSize(2);
        assertThat(allocation.refusals().get(acquires.get(3)))
                .containsExactly(
                        new PermitShortage("backup", 1, 1, 1, Optional.empty(), 0, 3, OptionalInt.of(3), false));
        assertThat(allocation.refusals().get(acquires.get(4)))
                .as("it does not want to wait")
                .containsExactly(
                        new PermitShortage("backup", 1, 1, 1, Optional.empty(), 0, 2, OptionalInt.empty(), false));
    }

    @Test
    void letsAnAcquireThatHasWaitedWaitAgain() {
        AcquireState again = waiting(1);
        again.moveTo(again.position().joined());
        Allocation allocation = Allocation.of(List.of(acquire("first", 1), again), availableOf(1, new LineLimit(1, 1)));

        assertThat(allocation.waits(again)).isEqualTo(true);
    }

    @Test
    void reservesNothingForAnAcquireThatMayNotWait() {
        AcquireState small = waiting(1);
        Allocation allocation =
                Allocation.of(List.of(acquire("first", 1), waiting(2), small), availableOf(2, new LineLimit(0, 0)));

        assertThat(allocation.approvals())
                .extracting(Allocation.Approval::acquire)
                .contains(small);
    }

    /** One whose line is full although it has permits available. */
    @Test
    void asksTheLinesOfAllSemaphores() {
        AcquireState both = new AcquireState(new AcquireCommand(
                "both", false, true, Map.of("backup", 1, "copy", 1), false, null, "test", null, null));
        both.setWillingToWait(true);
        Map<String, SemaphoreAvailability> availabilities = new HashMap<>(availableOf(0, LineLimit.NONE));
        availabilities.put("copy", available("copy", 1, new LineLimit(1, 1)));
        Allocation allocation = Allocation.of(List.of(both), availabilities);

        assertThat(allocation.waits(both)).isEqualTo(false);
        assertThat(allocation.refusals().get(both))
                .filteredOn(PermitShortage::isQueueFull)
                .extracting(PermitShortage::name)
                .containsExactly("copy");
    }

    private static AcquireState waiting(int count) {
        AcquireState acquire = acquire("waiting", count);
        acquire.setWillingToWait(true);
        return acquire;
    }

    private static AcquireState acquire(String externalId, int count) {
        return new AcquireState(
                new AcquireCommand(externalId, false, true, Map.of("backup", count), false, null, "test", null, null));
    }

    private static Map<String, SemaphoreAvailability> availableOf(int capacity) {
        return availableOf(capacity, LineLimit.NONE);
    }

    private static Map<String, SemaphoreAvailability> availableOf(int capacity, LineLimit limit) {
        return Map.of("backup", available("backup", capacity, limit));
    }

    private static SemaphoreAvailability available(String name, int capacity, LineLimit limit) {
        return new SemaphoreAvailability(
                new LockedSemaphore(1, name, capacity, 10, null),
                new HeldSum(1, 0, false, 0, NOW),
                WaitersElsewhere.NONE,
                limit,
                share -> LineLimit.NONE);
    }
}
