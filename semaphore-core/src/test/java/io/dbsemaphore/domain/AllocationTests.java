package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
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

    private static AcquireState acquire(String externalId, int count) {
        return new AcquireState(
                new AcquireCommand(externalId, false, true, Map.of("backup", count), false, null, "test", null, null));
    }

    private static Map<String, SemaphoreAvailability> availableOf(int capacity) {
        return Map.of(
                "backup",
                new SemaphoreAvailability(
                        new LockedSemaphore(1, "backup", capacity, 10, null),
                        new HeldSum(1, 0, false, 0, NOW),
                        WaitersElsewhere.NONE));
    }
}
