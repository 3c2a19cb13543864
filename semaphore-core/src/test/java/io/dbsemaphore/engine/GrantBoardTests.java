package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.engine.GrantBoard.Round;
import io.dbsemaphore.persistence.Availability;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.PolledAvailability;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class GrantBoardTests {

    private static final PermitShortage FULL = new PermitShortage("backup", 1, 1, 1, Optional.empty());

    private final GrantBoard board = new GrantBoard(1, 500);

    @Test
    void fewAreNoCompany() {
        add(3);
        Round round = board.take(true, true, false);

        assertThat(round.members()).hasSize(3);
        assertThat(board.hasCompany()).isEqualTo(false);
        assertThat(board.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void manyAreCompanyWhileTheyAreServedAndNotForLongAfterwards() {
        add(4);
        Round round = board.take(true, false, false);

        assertThat(board.hasCompany()).isEqualTo(true);
        assertThat(board.takesReleases(Set.of("backup"))).isEqualTo(true);

        board.finish(round, Map.of(), () -> {});

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !board.hasCompany());
        assertThat(board.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void takesNoReleasesWhereAnotherNodeIsAtTheRows() {
        add(4);
        Round first = board.take(true, false, false);
        board.finish(first, Map.of(), () -> {
            board.contested();
            first.members().forEach(board::again);
        });
        Round second = board.take(true, false, false);

        assertThat(second.members()).hasSize(4);
        assertThat(board.hasCompany()).isEqualTo(true);
        assertThat(board.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void decidesNoMoreAtOnceThanTheMaximum() {
        GrantBoard small = new GrantBoard(1, 5);
        waiters(12).forEach(small::add);

        Round first = small.take(true, true, false);
        small.finish(first, Map.of(), () -> {});
        Round second = small.take(true, true, false);

        assertThat(first.members()).hasSize(5);
        assertThat(second.members()).hasSize(5).doesNotContainAnyElementsOf(first.members());
    }

    /** What a call costs is not to depend on how many wait: with a look at each of them these take minutes. */
    @Test
    void isQuickAlsoBesideAHundredThousandWaiters() {
        List<PendingGrant> waiters = waiters(100_000);
        waiters.forEach(board::add);
        Round inFlight = board.take(true, true, false);

        assertThat(timeOf(2_000, i -> {
                    assertThat(board.nanosToWork()).isEqualTo(Long.MAX_VALUE);
                    assertThat(board.hasKept()).isEqualTo(false);
                    assertThat(poll(0)).isEqualTo(false);
                }))
                .as("while a batch is in flight")
                .isLessThan(Duration.ofSeconds(3));

        refuse(inFlight);
        refuseAll();
        assertThat(timeOf(2_000, i -> {
                    assertThat(board.tryLast(waiters.get(waiters.size() - 1 - i)))
                            .isEqualTo(true);
                    assertThat(board.nanosToWork()).isZero();
                    refuse(board.take(true, true, false));
                }))
                .as("last attempts of those that came last")
                .isLessThan(Duration.ofSeconds(3));
        assertThat(timeOf(
                        90_000,
                        i -> assertThat(board.giveUp(waiters.get(i), () -> {})).isEqualTo(true)))
                .as("giving up")
                .isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void decidesNoLastAttemptsThatWouldHaveToWaitForABatchAfterTheNext() {
        List<PendingGrant> waiters = waiters(GrantBoard.MAX_LAST_ATTEMPTS + 1);
        waiters.forEach(board::add);
        refuseAll();

        List<PendingGrant> decided = waiters.stream().filter(board::tryLast).toList();

        assertThat(decided).isEqualTo(waiters.subList(0, GrantBoard.MAX_LAST_ATTEMPTS));
        assertThat(waiters.get(GrantBoard.MAX_LAST_ATTEMPTS)).satisfies(last -> {
            assertThat(last.isGivenUp()).isEqualTo(true);
            assertThat(last.lastShortages()).containsExactly(FULL);
        });
    }

    @Test
    void wakesAWaiterWhereABatchOfOthersHasSeenWhatIsFree() {
        PendingGrant waiter = waiters(1).get(0);
        board.add(waiter);
        refuseAll();
        PendingGrant impatient = new PendingGrant(order(), Deadline.in(Duration.ZERO));
        board.add(impatient);
        Round refused = board.take(true, true, false);

        assertThat(poll(1)).as("while a batch is in flight").isEqualTo(false);
        board.finish(refused, Map.of("backup", new Availability(1, 7, 7)), impatient::giveUp);

        assertThat(refused.members()).containsExactly(impatient);
        assertThat(board.take(true, true, false).members()).containsExactly(waiter);
    }

    @Test
    void wakesOneForWhatIsReleasedOnce() {
        List<PendingGrant> waiters = waiters(3);
        waiters.forEach(board::add);
        refuseAll();
        board.released(Map.of("backup", 1));
        Round first = board.take(true, true, false);
        board.released(Map.of("backup", 1)); // the second is woken for this one
        first.members().forEach(PendingGrant::giveUp);
        board.finish(first, Map.of("backup", new Availability(0, 7, 8)), () -> {});

        assertThat(first.members()).containsExactly(waiters.get(0));
        assertThat(board.take(true, true, false).members()).containsExactly(waiters.get(1));
    }

    private boolean poll(long free) {
        return board.waiters().free(Map.of("backup", new PolledAvailability(free, 0)), System.nanoTime());
    }

    private static List<PendingGrant> waiters(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    PendingGrant pending = new PendingGrant(order(), Deadline.in(Duration.ofMinutes(1)));
                    pending.order().setPatient(true);
                    return pending;
                })
                .toList();
    }

    private static Duration timeOf(int times, IntConsumer task) {
        long begun = System.nanoTime();
        IntStream.range(0, times).forEach(task);
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    private void refuseAll() {
        for (Round round = board.take(true, true, false);
                !round.members().isEmpty();
                round = board.take(true, true, false)) {
            refuse(round);
        }
    }

    private void refuse(Round round) {
        board.finish(
                round,
                Map.of("backup", new Availability(0, 7, 7)),
                () -> round.members().forEach(pending -> {
                    pending.refused(List.of(FULL));
                    if (pending.order().isPatient()) {
                        board.park(pending);
                    } else {
                        pending.giveUp();
                    }
                }));
    }

    private void add(int orders) {
        IntStream.range(0, orders).forEach(i -> board.add(new PendingGrant(order(), Deadline.in(Duration.ZERO))));
    }

    private static GrantOrder order() {
        return new GrantOrder(
                UUID.randomUUID().toString(), false, true, Map.of("backup", 1), false, null, "test", null);
    }
}
