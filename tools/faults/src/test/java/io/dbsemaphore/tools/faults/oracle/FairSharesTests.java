package io.dbsemaphore.tools.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Callers with shares, by recorded lists of events. */
class FairSharesTests extends RecordedEvents {

    /** So many grants of another share than the caller's own are promised or tolerated. */
    private static final int ALLOWED = 8;

    private final StringBuilder events = new StringBuilder();
    private int time;
    private int token;

    private void asks(String client, String request, String share) {
        add("%d ACQUIRING %s %s - shared=1 1000 %s", ++time, client, request, share);
    }

    private void isGranted(String client, String request) {
        add("%d GRANTED %s %s x shared=%d 1000 -", ++time, client, request, ++token);
        add("%d RELEASING %s %s - - 0 held", time, client, request);
        add("%d RELEASED %s %s - - 0 RELEASED", time, client, request);
    }

    /** Asks, and is granted its permit at once, so often. */
    private void areGranted(int times, String client, String share) {
        for (int i = 0; i < times; i++) {
            String request = client + "-" + (token + 1);
            asks(client, request, share);
            isGranted(client, request);
        }
    }

    private void add(String event, Object... arguments) {
        events.append(event.formatted(arguments)).append('\n');
    }

    /** Three later acquires of its client show that it has recorded the caller. */
    private void beginsToWait(String share) {
        areGranted(1, "c1.1", "t3/k1");
        asks("c1.1", "first", share);
        areGranted(3, "c1.1", "t3/k1");
    }

    @Test
    void findsACallerThatAnotherKeyOvertakes() {
        beginsToWait("t1/k1");
        areGranted(ALLOWED + 1, "c2.1", "t1/k2");
        isGranted("c1.1", "first");
        record(events.toString());
        finds(Findings.Kind.UNFAIR);
        assertThat(oracle.figures().mostOvertaken()).isEqualTo(ALLOWED + 1);
    }

    @Test
    void findsACallerThatAnotherTenantOvertakesWithTwoKeys() {
        beginsToWait("t1/k1");
        areGranted(ALLOWED / 2, "c2.1", "t2/k1");
        areGranted(ALLOWED / 2 + 1, "c2.1", "t2/k2");
        isGranted("c1.1", "first");
        record(events.toString());
        finds(Findings.Kind.UNFAIR);
    }

    @Test
    void findsACallerThatIsRefusedAfterManyGrantsOfOthers() {
        beginsToWait("t1/k1");
        areGranted(ALLOWED + 1, "c2.1", "t2/k1");
        add("%d REFUSED c1.1 first - - 0 -", ++time);
        record(events.toString());
        finds(Findings.Kind.UNFAIR);
    }

    @Test
    void allowsAsManyGrantsAsThereWereOfTheCallersOwnKey() {
        beginsToWait("t1/k1");
        areGranted(5, "c2.1", "t1/k1");
        areGranted(ALLOWED + 5, "c2.1", "t2/k1");
        isGranted("c1.1", "first");
        record(events.toString());
        findsNothing();
        assertThat(oracle.figures().mostOvertaken()).isEqualTo(ALLOWED);
    }

    @Test
    void allowsGrantsToBeOfTheCallersKeyOfWhichNobodyHasTold() {
        beginsToWait("t1/k1");
        areGranted(ALLOWED + 1, "c2.1", "t1/k2");
        token++;
        isGranted("c1.1", "first");
        record(events.toString());
        findsNothing();
    }

    @Test
    void allowsGrantsBeforeTheClientHasRecordedTheCaller() {
        asks("c1.1", "first", "t1/k1");
        areGranted(2, "c1.1", "t3/k1");
        areGranted(ALLOWED + 1, "c2.1", "t1/k2");
        isGranted("c1.1", "first");
        record(events.toString());
        findsNothing();
        assertThat(oracle.figures().sharedWaits()).isEqualTo(0);
    }

    @Test
    void allowsOthersToPassAClientThatStandsStill() {
        beginsToWait("t1/k1");
        areGranted(ALLOWED + 1, "c2.1", "t1/k2");
        time += 501;
        isGranted("c1.1", "first");
        record(events.toString());
        findsNothing();
    }

    @Test
    void beginsAnewWithAFaultOfTheServer() {
        beginsToWait("t1/k1");
        areGranted(ALLOWED, "c2.1", "t1/k2");
        add("%d FAULT server - - - 0 server-read-only", ++time);
        areGranted(3, "c1.1", "t3/k1");
        areGranted(ALLOWED, "c2.1", "t1/k2");
        isGranted("c1.1", "first");
        record(events.toString());
        findsNothing();
    }
}
