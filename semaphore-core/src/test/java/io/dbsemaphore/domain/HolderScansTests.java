package io.dbsemaphore.domain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HolderScansTests {

    private static final Shortfall MANY = new Shortfall(1, "many", 1, 20_000);
    private static final Shortfall FEW = new Shortfall(2, "few", 1, 20);

    private final AtomicLong clock = new AtomicLong(Duration.ofDays(1).toNanos());
    private final HolderScans<String> scans = new HolderScans<>(clock::get);

    @Test
    void areDueAtFirst() {
        assertThat(scans.recent(MANY)).isEmpty();
    }

    @Test
    void areReusedForATenthOfASecond() {
        scan(Duration.ofMillis(1), MANY);
        pass(Duration.ofMillis(100));
        assertThat(scans.recent(MANY)).contains("many");
        pass(Duration.ofMillis(1));
        assertThat(scans.recent(MANY)).isEmpty();
    }

    @Test
    void areReusedForTwentyTimesAsLongAsTheyTook() {
        scan(Duration.ofMillis(50), MANY);
        pass(Duration.ofSeconds(1));
        assertThat(scans.recent(MANY)).contains("many");
        pass(Duration.ofMillis(1));
        assertThat(scans.recent(MANY)).isEmpty();
    }

    @Test
    void areRepeatedEachTimeWhereThereAreFewHolders() {
        scan(Duration.ofMillis(50), MANY, FEW);
        assertThat(scans.recent(FEW)).isEmpty();
        assertThat(scans.recent(MANY)).contains("many");
    }

    @Test
    void areEvictedWhereFewHoldersAreLeft() {
        scan(Duration.ofMillis(50), MANY);
        scan(Duration.ofMillis(50), new Shortfall(1, "many", 1, 3));
        assertThat(scans.recent(MANY)).isEmpty();
    }

    @Test
    void areCachedUpToABound() {
        LongStream.range(0, 5_000).forEach(id -> scan(Duration.ofMillis(1), new Shortfall(id, "s" + id, 1, 1_000)));
        assertThat(scans.recent(new Shortfall(0, "s0", 1, 1_000))).isEmpty();
        assertThat(scans.recent(new Shortfall(4_999, "s4999", 1, 1_000))).contains("s4999");
    }

    private void scan(Duration taking, Shortfall... scanned) {
        long begin = scans.begin();
        pass(taking);
        scans.record(List.of(scanned), begin, Shortfall::name);
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }
}
