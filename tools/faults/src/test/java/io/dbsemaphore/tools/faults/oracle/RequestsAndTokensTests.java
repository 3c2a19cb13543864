package io.dbsemaphore.tools.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Requests that are granted twice, and fencing tokens, by recorded lists of events. */
class RequestsAndTokensTests extends RecordedEvents {

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
}
