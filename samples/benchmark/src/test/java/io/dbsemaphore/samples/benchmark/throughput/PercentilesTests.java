package io.dbsemaphore.samples.benchmark.throughput;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PercentilesTests {

    @Test
    void areMillisecondsOfTheSampleAtThatRank() {
        long[] descending =
                LongStream.rangeClosed(1, 200).map(i -> (201 - i) * 1_000_000).toArray();
        assertThat(Percentiles.of(descending)).isEqualTo(new Percentiles(200, 100, 198));
    }

    @Test
    void areNoNumbersOfNoSamples() {
        assertThat(Percentiles.of(new long[0])).isEqualTo(new Percentiles(0, Double.NaN, Double.NaN));
    }
}
