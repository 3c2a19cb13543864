package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The clock's unit is a microsecond; the database's begins at a million of them. */
class ArrivalClockTests {

    private static final long DATABASE = 1_000_000_000;

    private long now;
    private final QueueClock clock = new QueueClock(() -> TimeUnit.MICROSECONDS.toNanos(now), bound -> 0);
    private final ArrivalClock arrivals = new ArrivalClock(clock);

    @Test
    void placesCallersByTheDatabasesClockAsOfTheirArrival() {
        read(DATABASE, now);
        now = 30;
        Acquire caller = arrive();
        now = 5_000;

        assertThat(arrivals.arrivalOf(caller)).isEqualTo(DATABASE + 30);
    }

    @Test
    void placesThoseThatCameBeforeTheFirstAnswerBeforeThoseThatCameAfterIt() {
        Acquire first = arrive();
        now = 10;
        Acquire second = arrive();
        now = 4_000;
        read(DATABASE, 0);
        Acquire third = arrive();
        now = 9_000;
        read(DATABASE + 5_800, 5_000); // took less time to arrive

        assertThat(arrivals.arrivalOf(third)).isEqualTo(DATABASE);
        assertThat(arrivals.arrivalOf(second)).isEqualTo(DATABASE - 3_990);
        assertThat(arrivals.arrivalOf(first)).isEqualTo(DATABASE - 4_000);
    }

    @Test
    void keepsTheAnswerThatTookTheLeastTime() {
        read(DATABASE, now);
        now = 1_000;
        read(DATABASE + 100, 0); // took 900 µs to arrive
        Acquire caller = arrive();

        assertThat(arrivals.arrivalOf(caller)).isEqualTo(DATABASE + 1_000);
    }

    @Test
    void neverPlacesALaterCallerBeforeAnEarlierOne() {
        read(DATABASE, now);
        now = TimeUnit.SECONDS.toMicros(5);
        Acquire earlier = arrive();
        now = TimeUnit.SECONDS.toMicros(5) + 10;
        read(DATABASE + now - 500_000, now); // its clock was set back
        now += 10;
        Acquire later = arrive();

        assertThat(arrivals.arrivalOf(later)).isGreaterThanOrEqualTo(arrivals.arrivalOf(earlier));
    }

    @Test
    void followsAClockThatWasSetBackByMore() {
        read(DATABASE, now);
        now = 1_000;
        Acquire before = arrive();
        now = 2_000;
        read(DATABASE - TimeUnit.HOURS.toMicros(1), now);
        Acquire after = arrive();

        assertThat(arrivals.arrivalOf(before)).isEqualTo(DATABASE + 1_000);
        assertThat(arrivals.arrivalOf(after)).isEqualTo(DATABASE - TimeUnit.HOURS.toMicros(1));
    }

    /** Clocks drift. */
    @Test
    void asksForANewAnswerAfterAWhile() {
        read(DATABASE, now);
        now = TimeUnit.SECONDS.toMicros(20);
        Acquire caller = arrive();
        assertThat(caller.isArrivalKnown()).isEqualTo(false);
        now += 2_000;
        read(DATABASE + now + 70_000, now);

        assertThat(arrivals.arrivalOf(caller)).isEqualTo(DATABASE + now - 2_000 + 70_000);
    }

    private void read(long micros, long asOf) {
        arrivals.read(micros, TimeUnit.MICROSECONDS.toNanos(asOf));
    }

    /** The transaction of the answer took long, for example to commit. */
    @Test
    void doesNotTakeALateAnswerForAClockThatWasSetBack() {
        read(DATABASE, now);
        now = TimeUnit.SECONDS.toMicros(4);
        Acquire earlier = arrive();
        read(DATABASE + 1_000, 1_000);
        Acquire later = arrive();

        assertThat(arrivals.arrivalOf(earlier)).isEqualTo(DATABASE + now);
        assertThat(arrivals.arrivalOf(later)).isEqualTo(DATABASE + now);
    }

    private Acquire arrive() {
        Acquire caller = WorkQueueFixture.acquire(
                WorkQueueFixture.command(Map.of("backup", 1)), true, Deadline.in(Duration.ofMinutes(1)), clock);
        arrivals.arrived(caller);
        return caller;
    }
}
