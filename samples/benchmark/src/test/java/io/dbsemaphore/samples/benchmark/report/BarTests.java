package io.dbsemaphore.samples.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.benchmark.report.Bar.Bound;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BarTests {

    @Test
    void isReachedWhereItsBoundIsMet() {
        assertThat(bar(Bound.AT_LEAST, 4).reached()).hasValue(true);
        assertThat(bar(Bound.AT_LEAST, 3.99).reached()).hasValue(false);
        assertThat(bar(Bound.AT_MOST, 4).reached()).hasValue(true);
        assertThat(bar(Bound.AT_MOST, 4.01).reached()).hasValue(false);
        assertThat(bar(Bound.BELOW, 4).reached()).hasValue(false);
    }

    @Test
    void isNeitherReachedNorMissedWhereNothingWasMeasured() {
        Bar bar = new Bar("w", "a", Bound.AT_LEAST, 4, " x", Optional.empty());
        assertThat(bar.reached()).isEmpty();
        assertThat(bar.reading()).isEqualTo("not measured");
    }

    @Test
    void speaksInNumbersWithoutIdleZeros() {
        assertThat(bar(Bound.AT_LEAST, 4.5).demand()).isEqualTo("at least 4 x");
        assertThat(bar(Bound.AT_LEAST, 4.5).reading()).isEqualTo("4.5 x");
        assertThat(bar(Bound.AT_LEAST, 10).reading()).isEqualTo("10 x");
        assertThat(bar(Bound.AT_LEAST, 0.0123).reading()).isEqualTo("0.012 x");
    }

    private static Bar bar(Bound bound, double figure) {
        return new Bar("w", "a", bound, 4, " x", Optional.of(figure));
    }
}
