package io.dbsemaphore.tools.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What else the oracle must find, and next to it what it must not, by recorded lists of events. */
class OracleTests extends RecordedEvents {

    @Test
    void findsAWriteAfterThePermitWasGrantedToAnother() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 1000 -
                1    GRANTED   c1.1 a x narrow=10 1000 -
                1500 ACQUIRING c2.1 b - narrow=1 1000 -
                1501 GRANTED   c2.1 b y narrow=11 1000 -
                1502 RELEASING c2.1 b - - 0 -
                1503 RELEASED  c2.1 b - - 0 RELEASED
                1600 WRITING   c1.1 a - - 0 -
                1601 WRITTEN   c1.1 a - - 0 -""");
        finds(Findings.Kind.STALE_WRITE);
    }

    @Test
    void allowsAWriteThatBeganBefore() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 1000 -
                1    GRANTED   c1.1 a x narrow=10 1000 -
                900  WRITING   c1.1 a - - 0 -
                1000 ACQUIRING c2.1 b - narrow=1 1000 -
                1501 GRANTED   c2.1 b y narrow=11 1000 -
                1600 WRITTEN   c1.1 a - - 0 -""");
        findsNothing();
    }

    @Test
    void findsAWriteThatIsRefusedWhileThePermitIsHeld() {
        record("""
                0   ACQUIRING     c1.1 a - narrow=1 1000 -
                1   GRANTED       c1.1 a x narrow=10 1000 -
                500 WRITING       c1.1 a - - 0 -
                600 WRITE_REFUSED c1.1 a - - 0 -""");
        finds(Findings.Kind.REFUSED_WRITE);
    }

    @Test
    void allowsAWriteToBeRefusedWhenTheTtlHasPassed() {
        record("""
                0    ACQUIRING     c1.1 a - narrow=1 1000 -
                1    GRANTED       c1.1 a x narrow=10 1000 -
                1500 WRITING       c1.1 a - - 0 -
                1600 WRITE_REFUSED c1.1 a - - 0 -""");
        findsNothing();
    }

    @Test
    void findsAnAcquireThatIsNeverAnswered() {
        record("0 ACQUIRING c1.1 a - narrow=1 1000 -");
        finds(Findings.Kind.UNRESOLVED);
    }

    @Test
    void findsThePermitOfAKilledClientThatComesBackLate() {
        record("""
                0    ACQUIRING c1.1 a - own-c1=1 0 -
                1    GRANTED   c1.1 a x own-c1=10 0 -
                1000 KILLED    c1.1 - - - 0 -
                3000 ACQUIRING c1.2 b - own-c1=1 0 -
                11001 GRANTED  c1.2 b y own-c1=11 0 -""");
        finds(Findings.Kind.LATE_RECOVERY);
    }

    @Test
    void allowsItToBeLateWhileTheServerIsAway() {
        record("""
                0     ACQUIRING    c1.1 a - own-c1=1 0 -
                1     GRANTED      c1.1 a x own-c1=10 0 -
                1000  KILLED       c1.1 - - - 0 -
                3000  ACQUIRING    c1.2 b - own-c1=1 0 -
                4000  SERVER_DOWN  server - - - 0 -
                11000 SERVER_READY server - - - 0 -
                11500 CONNECTED    c1.2 - - - 0 -
                12000 GRANTED      c1.2 b y own-c1=11 0 -""");
        findsNothing();
        assertThat(oracle.figures().recovered()).isEqualTo(1);
        assertThat(oracle.figures().afterReady())
                .containsEntry("connection of a pool that had none", List.of(Duration.ofMillis(500)))
                .containsEntry("grant", List.of(Duration.ofSeconds(1)));
        assertThat(oracle.figures().longestOutage()).isEqualTo(Duration.ofMillis(11_999));
    }

    @Test
    void measuresHowSoonAsMuchIsGrantedAsBefore() {
        StringBuilder events = new StringBuilder();
        for (int i = 0; i < 40; i++) { // eight a second
            int millis = i * 125;
            events.append(grant(millis, i));
        }
        events.append("5000 SERVER_DOWN server - - - 0 -\n");
        events.append("8000 SERVER_READY server - - - 0 -\n");
        for (int i = 0; i < 20; i++) { // four a second for three seconds, then eight
            int millis = 8000 + (i < 12 ? i * 250 : 3000 + (i - 12) * 125);
            events.append(grant(millis, 100 + i));
        }
        record(events.toString());
        assertThat(oracle.figures().afterReady())
                .containsEntry("second with 90 % of the grants before", List.of(Duration.ofMillis(3750)));
    }

    private static String grant(int millis, int number) {
        return """
                %1$d ACQUIRING c1.1 a%2$d - narrow=1 1000 -
                %1$d GRANTED   c1.1 a%2$d x narrow=%2$d 1000 -
                %1$d RELEASING c1.1 a%2$d - - 0 -
                %1$d RELEASED  c1.1 a%2$d - - 0 RELEASED
                """.formatted(millis, number);
    }

    @Test
    void remembersWhatAKilledClientLeftUnfinished() {
        record("""
                0 ACQUIRING c1.1 a job pair=1 2000 -
                1 ACQUIRING c1.1 b - pair=1 2000 -
                2 KILLED    c1.1 - - - 0 -""");
        assertThat(oracle.killedWith("c1.1"))
                .singleElement()
                .extracting(Event::externalId)
                .isEqualTo("job");
        findsNothing();
    }

    @Test
    void countsAReleaseThatIsToldAsDoneAfterThePermitWasGrantedToAnother() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 1000 -
                1    GRANTED   c1.1 a x narrow=10 1000 -
                1500 ACQUIRING c2.1 b - narrow=1 1000 -
                1501 GRANTED   c2.1 b y narrow=11 1000 -
                1502 RELEASING c1.1 a - - 0 -
                1503 RELEASED  c1.1 a - - 0 RELEASED""");
        findsNothing();
        assertThat(oracle.figures().overstatedReleases()).isEqualTo(1);
    }
}
