package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LineHeadTests {

    @Test
    void putsThoseThatBeginToWaitInTheirOrder() {
        LineHead queue = new LineHead(List.of(one(10), one(30)), 2);

        assertThat(queue.with(List.of(one(20), one(5))))
                .isEqualTo(new LineHead(List.of(one(5), one(10), one(20), one(30)), 4));
    }

    @Test
    void keepsTheSixteenThatHaveWaitedLongestAndCountsAll() {
        List<Waiter> known =
                LongStream.range(0, 16).mapToObj(LineHeadTests::one).toList();

        LineHead queue = new LineHead(known, 40).with(List.of(one(100)));

        assertThat(queue).isEqualTo(new LineHead(known, 41));
    }

    /** Callers of several semaphores would otherwise hide those of one, which are served while the window is closed. */
    @Test
    void keepsEightOfSeveralSemaphoresAtMost() {
        List<Waiter> ofSeveral = LongStream.range(0, 8)
                .mapToObj(since -> new Waiter(Places.at(since), Ask.of(1), true))
                .toList();

        LineHead queue = new LineHead(ofSeveral, 8).with(List.of(new Waiter(Places.at(8), Ask.of(1), true), one(9)));

        assertThat(queue.size()).isEqualTo(10);
        assertThat(queue.first())
                .hasSize(9)
                .startsWith(ofSeveral.toArray(Waiter[]::new))
                .endsWith(one(9));
    }

    @Test
    void knowsTheEarliestArrivalAlsoOfCallersBehindTheFirst() {
        List<Waiter> ahead = LongStream.range(0, 16)
                .mapToObj(i -> new Waiter(Places.at(i), Ask.of(1), false, 1_000))
                .toList();

        LineHead queue = LineHead.EMPTY.with(List.of(one(500))).with(ahead);

        assertThat(queue).isEqualTo(new LineHead(ahead, 17, 500));
        assertThat(queue.hasHeadStarts()).isEqualTo(true);
        assertThat(new LineHead(ahead, 16).since()).isEqualTo(1_000);
        assertThat(new LineHead(List.of(one(5)), 1).hasHeadStarts()).isEqualTo(false);
    }

    private static Waiter one(long since) {
        return new Waiter(Places.at(since), Ask.of(1), false);
    }
}
