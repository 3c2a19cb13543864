package io.dbsemaphore.tools.faults.oracle;

import org.junit.jupiter.api.Test;

/** Grants around a step of the server's clock, by recorded lists of events. */
class ServerClockTests extends RecordedEvents {

    private static final String BEFORE = """
            0 ACQUIRING c1.1 a - narrow=1 2000 -
            1 GRANTED   c1.1 a x narrow=10 2000 -
            2 FAULT     server - - - 0 server-clock-back
            """;

    @Test
    void doNotCountAsHeldFromTheStepOn() {
        record(BEFORE + """
                3 CALM      server - - - 0 -
                4 ACQUIRING c2.1 b - narrow=1 2000 -
                5 GRANTED   c2.1 b y narrow=11 2000 -""");
        findsNothing();
    }

    @Test
    void doNotCountIfTheyBeganDuringTheStep() {
        record(BEFORE + """
                3 ACQUIRING c2.1 b - narrow=1 2000 -
                4 GRANTED   c2.1 b y narrow=11 2000 -
                5 CALM      server - - - 0 -
                6 ACQUIRING c3.1 c - narrow=1 2000 -
                7 GRANTED   c3.1 c z narrow=12 2000 -""");
        findsNothing();
    }

    @Test
    void countAgainAfterIt() {
        record(BEFORE + """
                3 CALM      server - - - 0 -
                4 ACQUIRING c2.1 b - narrow=1 2000 -
                5 GRANTED   c2.1 b y narrow=11 2000 -
                6 ACQUIRING c3.1 c - narrow=1 2000 -
                7 GRANTED   c3.1 c z narrow=12 2000 -""");
        finds(Findings.Kind.OVER_GRANT);
    }
}
