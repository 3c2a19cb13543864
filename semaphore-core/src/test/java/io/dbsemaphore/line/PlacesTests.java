package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Microseconds of the database's clock, which begins at a million of those of this JVM. */
class PlacesTests {

    private static final long DATABASE = 1_000_000;

    @Test
    void areTheArrivalsThatAreKnown() {
        assertThat(places(DATABASE + 500, 100).of(new Arrival(0, DATABASE + 7, true)))
                .isEqualTo(Places.at(DATABASE + 7));
    }

    @Test
    void areNotLaterThanTheRefusalWhereTheClockWasSetBack() {
        assertThat(places(DATABASE, 100).of(new Arrival(0, DATABASE + 7, true))).isEqualTo(Places.at(DATABASE));
    }

    @Test
    void countTheAgeOfACallerWhoseArrivalIsNotKnown() {
        assertThat(places(DATABASE, 100).of(Arrival.unknown(TimeUnit.MICROSECONDS.toNanos(60))))
                .isEqualTo(Places.at(DATABASE - 40));
    }

    /**
     * The first transaction refuses a caller whose arrival it does not know. Those that came after it, or with it, and are decided by the
     * next transaction, stand behind it; those that come after its answer stand behind these.
     */
    @Test
    void keepTheOrderOfArrivalWhereTheClocksAreComparedMeanwhile() {
        ArrivalClock clock = new ArrivalClock(0);
        Arrival first = arrive(clock, 10);
        long startedAt = 20;
        Arrival second = arrive(clock, 20);
        Arrival third = arrive(clock, 600);
        long answer = DATABASE + 400;
        clock.read(answer, nanos(startedAt), nanos(900));
        Arrival fourth = arrive(clock, 900);

        Places ofFirst = places(answer, startedAt);
        Places ofNext = places(answer + 2_000, 901);

        assertThat(ofFirst.of(first)).isEqualTo(Places.at(answer - 10));
        assertThat(ofNext.of(resolved(clock, second))).isEqualTo(Places.at(answer));
        assertThat(ofNext.of(resolved(clock, third))).isEqualTo(Places.at(answer));
        assertThat(ofNext.of(fourth)).isEqualTo(Places.at(answer));
    }

    private static Arrival arrive(ArrivalClock clock, long micros) {
        return clock.arrive(nanos(micros));
    }

    private static Arrival resolved(ArrivalClock clock, Arrival arrival) {
        return clock.resolve(arrival, nanos(901));
    }

    private static Places places(long now, long startedAt) {
        return new Places(now, nanos(startedAt));
    }

    private static long nanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(micros);
    }
}
