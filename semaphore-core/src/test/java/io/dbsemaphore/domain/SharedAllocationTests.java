package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Position;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In which order the callers of a batch are decided where permits of a semaphore are shared. */
class SharedAllocationTests {

    private static final LocalDateTime OPEN = LocalDateTime.of(1970, 1, 1, 0, 0, 0);
    private static final LocalDateTime CLOSED = LocalDateTime.of(1970, 1, 1, 0, 0, 1);
    private static final Map<String, Integer> ONE = Map.of("a", 1);
    private static final Map<String, Integer> BOTH = Map.of("a", 1, "b", 1);

    /** While the window is open, one that waits would come before it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallerOfSeveralWithoutAWaitTimeOvertakesNobody(boolean isWindowOpen) {
        AcquireState waiting = waiting(ONE, "tenant", 5);

        for (String share : List.of("", "tenant", "new/key")) {
            AcquireState hasty = acquire(BOTH, share);
            Allocation allocation = decide(isWindowOpen ? OPEN : CLOSED, hasty, waiting);

            assertApproved(allocation, waiting);
            assertThat(allocation.refusals()).as(share).containsOnlyKeys(hasty);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallerOfOneWithoutAWaitTimeOvertakesNobody(boolean isWindowOpen) {
        AcquireState waiting = waiting(BOTH, "tenant", 5);

        assertApproved(decide(isWindowOpen ? OPEN : CLOSED, acquire(ONE, "new"), waiting), waiting);
    }

    @Test
    void aCallerOfSeveralThatWaitsComesFirstWhileTheWindowIsOpen() {
        AcquireState ofOne = waiting(ONE, "tenant", 5);
        AcquireState ofBoth = waiting(BOTH, "tenant", 9);

        assertApproved(decide(OPEN, ofOne, ofBoth), ofBoth);
        assertApproved(decide(CLOSED, ofBoth, ofOne), ofOne);
    }

    private static void assertApproved(Allocation allocation, AcquireState expected) {
        assertThat(allocation.approvals())
                .extracting(Allocation.Approval::acquire)
                .containsExactly(expected);
    }

    /** One permit of each semaphore is available. */
    private static Allocation decide(LocalDateTime now, AcquireState... acquires) {
        List<AcquireState> all = List.of(acquires);
        SemaphoreAvailability shared = available("a", 1, now);
        ShareTags tags = new ShareTags();
        all.forEach(acquire -> tags.know(acquire.share()));
        shared.share(all, tags, LineHead.EMPTY, (semaphore, share) -> 1, 5, 0);
        return Allocation.of(all, Map.of("a", shared, "b", available("b", 2, now)));
    }

    private static SemaphoreAvailability available(String name, long id, LocalDateTime now) {
        return new SemaphoreAvailability(
                new LockedSemaphore(id, name, 1, 10, null), new HeldSum(id, 0, false, 0, now), WaitersElsewhere.NONE);
    }

    private static AcquireState waiting(Map<String, Integer> permits, String share, long at) {
        AcquireState acquire = acquire(permits, share);
        acquire.setWillingToWait(true);
        acquire.moveTo(new Position(Arrival.unknown(0), 0, Places.at(at), true));
        return acquire;
    }

    private static AcquireState acquire(Map<String, Integer> permits, String share) {
        return new AcquireState(
                new AcquireCommand("id", false, true, new TreeMap<>(permits), false, null, "test", null, null),
                Arrival.unknown(0),
                0,
                Share.of(share));
    }
}
