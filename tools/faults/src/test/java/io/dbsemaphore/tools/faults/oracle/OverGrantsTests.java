package io.dbsemaphore.tools.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Too many permits at one time, by recorded lists of events: what the oracle must find, and next to it what it must not. */
class OverGrantsTests extends RecordedEvents {

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
                3000 RELEASING c1.1 a - - 0 held
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
                3000 RELEASING c1.1 a - - 0 held
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
}
