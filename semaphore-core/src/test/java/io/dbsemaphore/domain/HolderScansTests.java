package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HolderScansTests {

    private final AtomicLong clock = new AtomicLong(Duration.ofDays(1).toNanos());
    private final HolderScans<String> scans = new HolderScans<>(clock::get);

    @Test
    void areDueAtFirst() {
        assertThat(scans.recent(1)).isEmpty();
    }

    @Test
    void areReusedForTwentyTimesAsLongAsTheyTook() {
        scan(Duration.ofMillis(50), 1L);
        pass(Duration.ofSeconds(1));
        assertThat(scans.recent(1)).contains("s1");
        pass(Duration.ofMillis(1));
        assertThat(scans.recent(1)).isEmpty();
    }

    @Test
    void areRepeatedSoonAfterAStall() {
        scan(Duration.ofSeconds(5), 1L);
        pass(Duration.ofSeconds(2));
        assertThat(scans.recent(1)).contains("s1");
        pass(Duration.ofMillis(1));
        assertThat(scans.recent(1)).isEmpty();
    }

    @Test
    void areReusedForLongIfTwoInTurnTakeLong() {
        scan(Duration.ofSeconds(5), 1L);
        scan(Duration.ofSeconds(4), 1L);
        pass(Duration.ofSeconds(80));
        assertThat(scans.recent(1)).contains("s1");
        pass(Duration.ofMillis(1));
        assertThat(scans.recent(1)).isEmpty();
    }

    @Test
    void areRepeatedEachTimeWhereTheyTakeAsLongAsAnAcquire() {
        scan(Duration.ofMillis(50), 1L);
        scan(Duration.ofMillis(1), 1L, 2L);
        assertThat(scans.recent(1)).isEmpty();
        assertThat(scans.recent(2)).isEmpty();
    }

    @Test
    void areCachedUpToABound() {
        scan(Duration.ofMillis(50), LongStream.range(0, 5_000).boxed().toArray(Long[]::new));
        assertThat(scans.recent(0)).isEmpty();
        assertThat(scans.recent(4_999)).contains("s4999");
    }

    private void scan(Duration taking, Long... scanned) {
        long begin = scans.begin();
        pass(taking);
        scans.record(List.of(scanned), begin, id -> "s" + id);
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }
}
