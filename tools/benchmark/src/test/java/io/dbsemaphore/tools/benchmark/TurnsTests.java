package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TurnsTests {

    @Test
    void letNoCaseAlwaysGoFirstOrAfterTheSameOther() {
        List<Case> cases =
                Scenario.ONE_THREAD.cases(List.of(Approach.DB_SEMAPHORE, Approach.BARE_UPDATE), true, 1, Duration.ZERO);
        assertThat(cases)
                .extracting(Case::label)
                .containsExactly("DB Semaphore", "DB Semaphore, earlier build", "bare UPDATE");
        List<List<Case>> orders = IntStream.range(0, 6)
                .mapToObj(round -> Turns.order(cases, round))
                .toList();
        assertThat(orders).allSatisfy(order -> assertThat(order).containsExactlyInAnyOrderElementsOf(cases));
        for (Case measured : cases) {
            assertThat(orders)
                    .filteredOn(order -> order.get(0).equals(measured))
                    .hasSize(2);
        }
        assertThat(orders)
                .filteredOn(order -> order.indexOf(cases.get(0)) < order.indexOf(cases.get(1)))
                .hasSize(3);
    }
}
