package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The clock's unit is a microsecond; the database's begins at a million of them. */
class ArrivalClockTests {

    private static final long DATABASE = 1_000_000_000;

    private long now;
    private final ArrivalClock arrivals = new ArrivalClock(0);

    @Test
    void placesCallersByTheDatabasesClockAsOfTheirArrival() {
        read(DATABASE, now);
        now = 30;
        Arrival caller = arrive();
        now = 5_000;

        assertThat(micros(caller)).isEqualTo(DATABASE + 30);
    }

    @Test
    void placesThoseThatCameBeforeTheFirstAnswerBeforeThoseThatCameAfterIt() {
        Arrival first = arrive();
        now = 10;
        Arrival second = arrive();
        now = 4_000;
        read(DATABASE, 0);
        Arrival third = arrive();
        now = 9_000;
        read(DATABASE + 5_800, 5_000); // took less time to arrive

        assertThat(micros(third)).isEqualTo(DATABASE);
        assertThat(micros(second)).isEqualTo(DATABASE - 3_990);
        assertThat(micros(first)).isEqualTo(DATABASE - 4_000);
    }

    @Test
    void keepsTheAnswerThatTookTheLeastTime() {
        read(DATABASE, now);
        now = 1_000;
        read(DATABASE + 100, 0); // took 900 µs to arrive
        Arrival caller = arrive();

        assertThat(micros(caller)).isEqualTo(DATABASE + 1_000);
    }

    @Test
    void neverPlacesALaterCallerBeforeAnEarlierOne() {
        read(DATABASE, now);
        now = TimeUnit.SECONDS.toMicros(5);
        Arrival earlier = arrive();
        now = TimeUnit.SECONDS.toMicros(5) + 10;
        read(DATABASE + now - 500_000, now); // its clock was set back
        now += 10;
        Arrival later = arrive();

        assertThat(micros(later)).isGreaterThanOrEqualTo(micros(earlier));
    }

    @Test
    void followsAClockThatWasSetBackByMore() {
        read(DATABASE, now);
        now = 1_000;
        Arrival before = arrive();
        now = 2_000;
        read(DATABASE - TimeUnit.HOURS.toMicros(1), now);
        Arrival after = arrive();

        assertThat(before.micros()).isEqualTo(DATABASE + 1_000);
        assertThat(micros(before))
                .as("while it is not decided, behind nobody who comes now")
                .isEqualTo(DATABASE - TimeUnit.HOURS.toMicros(1));
        assertThat(micros(after)).isEqualTo(DATABASE - TimeUnit.HOURS.toMicros(1));
    }

    /** Clocks drift. */
    @Test
    void asksForANewAnswerAfterAWhile() {
        read(DATABASE, now);
        now = TimeUnit.SECONDS.toMicros(20);
        Arrival caller = arrive();
        assertThat(caller.isKnown()).isEqualTo(false);
        now += 2_000;
        read(DATABASE + now + 70_000, now);

        assertThat(micros(caller)).isEqualTo(DATABASE + now - 2_000 + 70_000);
    }

    private void read(long micros, long asOf) {
        arrivals.read(micros, nanos(asOf), nanos(now));
    }

    /** The transaction of the answer took long, for example to commit. */
    @Test
    void doesNotTakeALateAnswerForAClockThatWasSetBack() {
        read(DATABASE, now);
        now = TimeUnit.SECONDS.toMicros(4);
        Arrival earlier = arrive();
        read(DATABASE + 1_000, 1_000);
        Arrival later = arrive();

        assertThat(micros(earlier)).isEqualTo(DATABASE + now);
        assertThat(micros(later)).isEqualTo(DATABASE + now);
    }

    private Arrival arrive() {
        return arrivals.arrive(nanos(now));
    }

    private long micros(Arrival arrival) {
        Arrival resolved = arrivals.resolve(arrival, nanos(now));
        assertThat(resolved.isKnown()).isEqualTo(true);
        return resolved.micros();
    }

    private static long nanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(micros);
    }
}
