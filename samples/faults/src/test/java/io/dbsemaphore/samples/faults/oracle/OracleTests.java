package io.dbsemaphore.samples.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The oracle, by recorded lists of events: what it must find, and next to it what it must not. */
class OracleTests {

    private static final Map<String, Integer> CAPACITIES = Map.of("narrow", 1, "pair", 2, "reused", 2, "own-c1", 1);

    private final Findings findings = new Findings();
    private final Oracle oracle = new Oracle(CAPACITIES, Set.of("reused"), Duration.ofSeconds(6), findings);

    /** Milliseconds, kind, client, request, external id, numbers, TTL, detail; "-" for an empty one. */
    private void record(String events) {
        events.lines().forEach(line -> {
            String[] fields = line.strip().split(" +", 8);
            for (int i = 3; i < fields.length; i++) {
                fields[i] = fields[i].equals("-") ? "" : fields[i];
            }
            String encoded =
                    String.join("\t", fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7]);
            oracle.accept(Event.decode(encoded, Long.parseLong(fields[0]) * 1_000_000));
        });
        oracle.finish();
    }

    private void finds(Findings.Kind kind) {
        assertThat(findings.count(kind)).as(findings.toString()).isPositive();
    }

    private void findsNothing() {
        assertThat(findings.isEmpty()).as(findings.toString()).isTrue();
    }

    @Test
    void findsTwoHoldersOfOnePermit() {
        record("""
                0 ACQUIRING c1.1 a - narrow=1 2000 -
                1 GRANTED   c1.1 a x narrow=10 2000 -
                2 ACQUIRING c2.1 b - narrow=1 2000 -
                3 GRANTED   c2.1 b y narrow=11 2000 -
                4 RELEASING c1.1 a - - 0 -
                5 RELEASING c2.1 b - - 0 -""");
        finds(Findings.Kind.OVER_GRANT);
        assertThat(findings.descriptions(Findings.Kind.OVER_GRANT))
                .singleElement()
                .asString()
                .contains("narrow: 2 of 1")
                .contains("a (1), b (1)");
    }

    @Test
    void allowsTheNextHolderFromTheReleaseOn() {
        record("""
                0 ACQUIRING c1.1 a - narrow=1 2000 -
                1 GRANTED   c1.1 a x narrow=10 2000 -
                2 ACQUIRING c2.1 b - narrow=1 2000 -
                3 RELEASING c1.1 a - - 0 -
                4 GRANTED   c2.1 b y narrow=11 2000 -
                5 RELEASED  c1.1 a - - 0 RELEASED""");
        findsNothing();
    }

    @Test
    void countsThePermitsOfEachHolder() {
        record("""
                0 ACQUIRING c1.1 a - pair=2 2000 -
                1 GRANTED   c1.1 a x pair=10 2000 -
                2 ACQUIRING c2.1 b - pair=1 2000 -
                3 GRANTED   c2.1 b y pair=11 2000 -""");
        finds(Findings.Kind.OVER_GRANT);
    }

    @Test
    void allowsAsManyAsTheCapacity() {
        record("""
                0 ACQUIRING c1.1 a - pair=1 2000 -
                1 GRANTED   c1.1 a x pair=10 2000 -
                2 ACQUIRING c2.1 b - pair=1 2000 -
                3 GRANTED   c2.1 b y pair=11 2000 -""");
        findsNothing();
    }

    @Test
    void allowsTheNextHolderWhenTheTtlHasPassed() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 2000 -
                1000 GRANTED   c1.1 a x narrow=10 2000 -
                1500 ACQUIRING c2.1 b - narrow=1 2000 -
                2000 GRANTED   c2.1 b y narrow=11 2000 -""");
        findsNothing();
    }

    @Test
    void findsAGrantBeforeTheTtlHasPassed() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 2000 -
                1000 GRANTED   c1.1 a x narrow=10 2000 -
                1500 ACQUIRING c2.1 b - narrow=1 2000 -
                1999 GRANTED   c2.1 b y narrow=11 2000 -""");
        finds(Findings.Kind.OVER_GRANT);
    }

    @Test
    void findsAGrantBeforeAReleaseThatTheDatabaseConfirms() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 1000 -
                1    GRANTED   c1.1 a x narrow=10 1000 -
                2000 ACQUIRING c2.1 b - narrow=1 1000 -
                2001 GRANTED   c2.1 b y narrow=11 1000 -
                3000 RELEASING c1.1 a - - 0 -
                3001 RELEASED  c1.1 a - - 0 RELEASED""");
        finds(Findings.Kind.OVER_GRANT);
    }

    @Test
    void trustsNoReleaseThatTheDatabaseDoesNotConfirm() {
        record("""
                0    ACQUIRING c1.1 a - narrow=1 1000 -
                1    GRANTED   c1.1 a x narrow=10 1000 -
                2000 ACQUIRING c2.1 b - narrow=1 1000 -
                2001 GRANTED   c2.1 b y narrow=11 1000 -
                3000 RELEASING c1.1 a - - 0 -
                3001 RELEASED  c1.1 a - - 0 ALREADY_RELEASED""");
        findsNothing();
    }

    @Test
    void regardsNothingAsHeldByAKilledClient() {
        record("""
                0  ACQUIRING c1.1 a - narrow=1 2000 -
                1  GRANTED   c1.1 a x narrow=10 2000 -
                2  KILLED    c1.1 - - - 0 -
                3  ACQUIRING c2.1 b - narrow=1 2000 -
                4  GRANTED   c2.1 b y narrow=11 2000 -
                5  GRANTED   c1.1 a x narrow=10 2000 -""");
        findsNothing();
    }

    @Test
    void findsARequestThatIsGrantedTwice() {
        record("""
                0 ACQUIRING c1.1 a job pair=1 2000 -
                1 GRANTED   c1.1 a job pair=10 2000 -
                2 KILLED    c1.1 - - - 0 -
                3 ACQUIRING c1.2 b job pair=1 2000 -
                4 GRANTED   c1.2 b job pair=11 2000 -""");
        finds(Findings.Kind.DOUBLE_GRANT);
    }

    @Test
    void allowsARequestToBeRepeated() {
        record("""
                0 ACQUIRING c1.1 a job pair=1 2000 -
                1 GRANTED   c1.1 a job pair=10 2000 -
                2 ACQUIRING c1.1 a job pair=1 2000 -
                3 GRANTED   c1.1 a job pair=10 2000 replayed
                4 KILLED    c1.1 - - - 0 -
                5 ACQUIRING c1.2 b job pair=1 2000 -
                6 GRANTED   c1.2 b job pair=10 2000 replayed""");
        findsNothing();
        assertThat(oracle.figures().repeated()).isEqualTo(2);
    }

    @Test
    void findsATokenBelowAnEarlierOne() {
        record("""
                0 ACQUIRING c1.1 a - pair=1 2000 -
                1 GRANTED   c1.1 a x pair=10 2000 -
                2 ACQUIRING c2.1 b - pair=1 2000 -
                3 GRANTED   c2.1 b y pair=9 2000 -""");
        finds(Findings.Kind.FENCING);
    }

    @Test
    void allowsTokensInAnyOrderOfAcquiresThatOverlap() {
        record("""
                0 ACQUIRING c1.1 a - pair=1 2000 -
                1 ACQUIRING c2.1 b - pair=1 2000 -
                2 GRANTED   c1.1 a x pair=10 2000 -
                3 GRANTED   c2.1 b y pair=9 2000 -""");
        findsNothing();
    }

    @Test
    void findsATokenThatIsGrantedTwice() {
        record("""
                0 ACQUIRING c1.1 a - pair=1 2000 -
                1 ACQUIRING c2.1 b - pair=1 2000 -
                2 GRANTED   c1.1 a x pair=10 2000 -
                3 GRANTED   c2.1 b y pair=10 2000 -""");
        finds(Findings.Kind.FENCING);
    }

    @Test
    void comparesTheTokensOfReusedPermitsWithinOneGrant() {
        record("""
                0 ACQUIRING c1.1 a - reused=1 0 -
                1 GRANTED   c1.1 a x reused=100 0 -
                2 RELEASING c1.1 a - - 0 -
                3 RELEASED  c1.1 a - - 0 RELEASED
                4 ACQUIRING c2.1 b - reused=1 0 -
                5 GRANTED   c2.1 b y reused=200 0 -
                6 ACQUIRING c1.1 c - reused=1 0 -
                7 GRANTED   c1.1 c x#1 reused=101 0 reused""");
        findsNothing();
    }

    @Test
    void findsAReusedPermitWhoseTokenDoesNotRise() {
        record("""
                0 ACQUIRING c1.1 a - reused=1 0 -
                1 GRANTED   c1.1 a x reused=100 0 -
                2 RELEASING c1.1 a - - 0 -
                3 RELEASED  c1.1 a - - 0 RELEASED
                4 ACQUIRING c1.1 c - reused=1 0 -
                5 GRANTED   c1.1 c x#1 reused=99 0 reused""");
        finds(Findings.Kind.FENCING);
    }

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
                9001 GRANTED   c1.2 b y own-c1=11 0 -""");
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
                12000 GRANTED      c1.2 b y own-c1=11 0 -""");
        findsNothing();
        assertThat(oracle.figures().recovered()).isEqualTo(1);
        assertThat(oracle.figures().afterReady().get(0)).isEqualTo(Duration.ofSeconds(1));
        assertThat(oracle.figures().longestOutage()).isEqualTo(Duration.ofMillis(11_999));
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
}
