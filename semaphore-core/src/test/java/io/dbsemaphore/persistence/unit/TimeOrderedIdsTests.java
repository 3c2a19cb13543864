package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TimeOrderedIdsTests {

    private static final Instant NOW = Instant.parse("2026-07-01T12:00:00Z");
    private static final Instant BEFORE_THE_EPOCH = Instant.parse("1970-01-01T00:00:05Z");

    private final AtomicLong clock = new AtomicLong(NOW.toEpochMilli());

    @Test
    void rise() {
        TimeOrderedIds ids = new TimeOrderedIds(clock::get);
        List<Long> generated = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            clock.addAndGet(i % 100 == 0 ? 1 : 0);
            generated.add(ids.next());
        }

        assertThat(generated).isSorted().doesNotHaveDuplicates().allMatch(id -> id > 0);
    }

    @Test
    void riseAlthoughTheClockGoesBack() {
        TimeOrderedIds ids = new TimeOrderedIds(clock::get);
        long before = ids.next();
        clock.addAndGet(-Duration.ofHours(1).toMillis());

        assertThat(ids.next()).isEqualTo(before + 1);
    }

    /** Otherwise the clean-up would skip them, or look at rows that are too young. */
    @Test
    void areBoundedByTheirTime() {
        long id = new TimeOrderedIds(clock::get).next();

        assertThat(TimeOrderedIds.upperBound(at(NOW), Duration.ZERO)).isGreaterThan(id);
        assertThat(TimeOrderedIds.upperBound(at(NOW.minusMillis(1)), Duration.ZERO))
                .isLessThanOrEqualTo(id);
    }

    /** As on a device without a battery for its clock, at every start. The rows of the last start are still there. */
    @Test
    void differBetweenStartsWithAClockBeforeTheEpoch() {
        clock.set(BEFORE_THE_EPOCH.toEpochMilli());

        List<Long> first = generate(10_000);
        List<Long> second = generate(10_000);

        assertThat(first).isSorted().doesNotHaveDuplicates().allMatch(id -> id > 0);
        assertThat(second).isSorted().doesNotHaveDuplicates().doesNotContainAnyElementsOf(Set.copyOf(first));
    }

    @Test
    void followTheClockOnceItIsRight() {
        clock.set(BEFORE_THE_EPOCH.toEpochMilli());
        TimeOrderedIds ids = new TimeOrderedIds(clock::get);
        long before = ids.next();
        assertThat(TimeOrderedIds.upperBound(at(NOW), Duration.ofDays(365))).isGreaterThan(before);
        clock.set(NOW.toEpochMilli());

        assertThat(ids.next())
                .isGreaterThan(before)
                .isGreaterThanOrEqualTo(TimeOrderedIds.upperBound(at(NOW.minusMillis(1)), Duration.ZERO));
    }

    private List<Long> generate(int count) {
        return Stream.generate(new TimeOrderedIds(clock::get)::next)
                .limit(count)
                .toList();
    }

    private static LocalDateTime at(Instant instant) {
        return LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
    }
}
