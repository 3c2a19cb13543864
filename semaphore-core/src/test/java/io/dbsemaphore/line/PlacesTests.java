package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Microseconds of the database's clock, which begins at a million of those of this JVM. */
class PlacesTests {

    private static final long DATABASE = 1_000_000;

    @Test
    void areTheArrivalsThatAreKnown() {
        assertThat(places(DATABASE + 500, 100).of(new Arrival(0, DATABASE + 7, true), 0))
                .isEqualTo(Places.at(DATABASE + 7));
    }

    @Test
    void areNotLaterThanTheRefusalWhereTheClockWasSetBack() {
        assertThat(places(DATABASE, 100).of(new Arrival(0, DATABASE + 7, true), 0))
                .isEqualTo(Places.at(DATABASE));
    }

    @Test
    void countTheAgeOfACallerWhoseArrivalIsNotKnown() {
        assertThat(places(DATABASE, 100).of(Arrival.unknown(TimeUnit.MICROSECONDS.toNanos(60)), 0))
                .isEqualTo(Places.at(DATABASE - 40));
    }

    @Test
    void areEarlierThanTheArrivalsByTheHeadStart() {
        assertThat(places(DATABASE + 500, 100).of(new Arrival(0, DATABASE + 7, true), 30))
                .as("known")
                .isEqualTo(Places.at(DATABASE - 23));
        assertThat(places(DATABASE, 100).of(new Arrival(0, DATABASE + 7, true), 30))
                .as("not later than the refusal, less the head start")
                .isEqualTo(Places.at(DATABASE - 30));
        assertThat(places(DATABASE, 100).of(Arrival.unknown(TimeUnit.MICROSECONDS.toNanos(60)), 30))
                .as("not known")
                .isEqualTo(Places.at(DATABASE - 70));
    }

    @Test
    void ofANewcomerCountOnlyWithAHeadStartAndAKnownArrival() {
        Arrival known = new Arrival(0, DATABASE, true);

        assertThat(Position.of(known, 30).standsAt()).isEqualTo(Places.at(DATABASE - 30));
        assertThat(Position.of(known, 0).standsAt()).isEqualTo(Place.LAST);
        assertThat(Position.of(Arrival.unknown(0), 30).standsAt()).isEqualTo(Place.LAST);
        assertThat(Position.of(Arrival.unknown(0), 30).with(known).standsAt()).isEqualTo(Places.at(DATABASE - 30));
        assertThat(Position.of(known, 0).joined().standsAt()).isEqualTo(Places.at(DATABASE));
    }

    /**
     * The first transaction refuses a caller whose arrival it does not know, after it has waited for a row. Others came meanwhile, before
     * its answer and after it, and are decided by the next transaction.
     */
    @Test
    void keepTheOrderOfArrivalWhereTheClocksAreComparedMeanwhile() {
        ArrivalClock clock = new ArrivalClock(0);
        Arrival first = arrive(clock, 10);
        Arrival second = arrive(clock, 20);
        Arrival third = arrive(clock, 950);
        long answeredAt = 900;
        clock.read(DATABASE, nanos(15), nanos(answeredAt));
        Arrival fourth = arrive(clock, 960);

        Places ofFirst = places(DATABASE, answeredAt);
        Places ofNext = places(DATABASE + 2_000, 2_900);

        assertThat(ofFirst.of(first, 0)).isEqualTo(Places.at(DATABASE - 890));
        assertThat(ofNext.of(resolved(clock, second), 0)).isEqualTo(Places.at(DATABASE - 880));
        assertThat(ofNext.of(resolved(clock, third), 0)).isEqualTo(Places.at(DATABASE + 50));
        assertThat(ofNext.of(fourth, 0)).isEqualTo(Places.at(DATABASE + 60));
    }

    private static Arrival arrive(ArrivalClock clock, long micros) {
        return clock.arrive(nanos(micros));
    }

    private static Arrival resolved(ArrivalClock clock, Arrival arrival) {
        return clock.resolve(arrival, nanos(960));
    }

    private static Places places(long now, long answeredAt) {
        return new Places(now, nanos(answeredAt));
    }

    private static long nanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(micros);
    }
}
