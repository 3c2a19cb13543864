package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.line.RecordedHead.Standing;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RecordedHeadTests {

    private static final LocalDateTime LATER = LocalDateTime.of(2026, 1, 1, 0, 0);

    @Test
    void areInTheOrderOfTheirCallers() {
        assertThat(RecordedHead.inOrder(List.of(head(7, 2, at(100), at(300)), head(5, 2, at(200), at(300)))))
                .extracting(Standing::head, each -> each.waiter().place().at(), Standing::mayMoreBeAhead)
                .containsExactly(
                        tuple(0, 100L, false), tuple(1, 200L, false), tuple(1, 300L, false), tuple(0, 300L, false));
    }

    /** The record of instance 7 has two of its three callers: the third is behind 200. */
    @Test
    void haveUnknownCallersAheadOfThoseThatCameLater() {
        assertThat(RecordedHead.inOrder(List.of(head(7, 3, at(100), at(200)), head(5, 2, at(150), at(250)))))
                .extracting(each -> each.waiter().place().at(), Standing::mayMoreBeAhead)
                .containsExactly(tuple(100L, false), tuple(150L, false), tuple(200L, false), tuple(250L, true));
    }

    /** A record has at most eight callers of several semaphores: a ninth may stand behind the eighth, before callers of one. */
    @Test
    void haveUnknownCallersOfSeveralSemaphoresAheadOfThoseOfOne() {
        Waiter[] known = LongStream.rangeClosed(1, 9)
                .mapToObj(each -> new Waiter(Places.at(each * 100), Ask.of(1), each < 9))
                .toArray(Waiter[]::new);

        assertThat(RecordedHead.inOrder(List.of(head(7, 10, known))))
                .extracting(Standing::mayMoreBeAhead)
                .containsExactly(false, false, false, false, false, false, false, false, true);
    }

    /** Behind the first sixteen callers, a record has only the first one of each further key. */
    @Test
    void haveUnknownCallersOfRecordedKeysAheadOfTheFirstOfFurtherKeys() {
        List<Waiter> known =
                LongStream.rangeClosed(1, 20).mapToObj(each -> at(each * 100)).toList();

        assertThat(RecordedHead.inOrder(List.of(new RecordedHead(1, 7, known, 50, LATER, Map.of("", 1)))))
                .extracting(Standing::mayMoreBeAhead)
                .containsExactly(
                        IntStream.range(0, 20).mapToObj(each -> each >= 16).toArray(Boolean[]::new));
        assertThat(RecordedHead.inOrder(List.of(new RecordedHead(1, 7, known, 20, LATER, Map.of("", 1)))))
                .as("all are known")
                .noneMatch(Standing::mayMoreBeAhead);
    }

    private static Waiter at(long micros) {
        return new Waiter(Places.at(micros), Ask.of(1), false);
    }

    private static RecordedHead head(long instance, int size, Waiter... first) {
        return new RecordedHead(1, instance, Arrays.asList(first), size, LATER);
    }
}
