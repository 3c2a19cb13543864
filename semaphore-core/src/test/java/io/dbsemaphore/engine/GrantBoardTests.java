package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.engine.GrantBoard.Round;
import io.dbsemaphore.persistence.GrantOrder;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class GrantBoardTests {

    private final GrantBoard board = new GrantBoard(1, 5);

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

        board.finish(round, () -> {});

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !board.hasCompany());
        assertThat(board.takesReleases(Set.of("backup"))).isEqualTo(false);
    }

    @Test
    void takesNoReleasesWhereAnotherNodeIsAtTheRows() {
        add(4);
        Round first = board.take(true, false, false);
        board.finish(first, () -> {
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
        add(12);

        Round first = board.take(true, true, false);
        board.finish(first, () -> {});
        Round second = board.take(true, true, false);

        assertThat(first.members()).hasSize(5);
        assertThat(second.members()).hasSize(5).doesNotContainAnyElementsOf(first.members());
    }

    private void add(int orders) {
        IntStream.range(0, orders).forEach(i -> board.add(new PendingGrant(order(), Deadline.in(Duration.ZERO))));
    }

    private static GrantOrder order() {
        return new GrantOrder(
                UUID.randomUUID().toString(), false, true, Map.of("backup", 1), false, null, "test", null);
    }
}
