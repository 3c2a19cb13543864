package io.dbsemaphore.tools.faults.oracle;

import java.util.Map;

/** What the oracle knows about one request, and until when its permits are surely held. */
final class Hold {

    private final Event acquiring;
    final String request;
    final String client;
    final String externalId;
    final Map<String, Long> permits;
    final long firstAskedAt;
    private final long guaranteed;
    private long askedAt;

    Map<String, Long> tokens = Map.of();
    boolean granted;
    boolean reused;
    private boolean heldAtRelease;
    long grantedAt;
    private long surelyUntil;
    private long writingAt;
    private long releasingAt = Long.MAX_VALUE;

    /** @param leased for how long a grant that depends on heartbeats is surely held after its acquire began, in nanoseconds */
    Hold(Event acquiring, long leased) {
        this.acquiring = acquiring;
        request = acquiring.request();
        client = acquiring.client();
        externalId = acquiring.externalId();
        permits = acquiring.numbers();
        firstAskedAt = acquiring.nanos();
        askedAt = firstAskedAt;
        guaranteed = acquiring.ttlMillis() == 0 ? leased : acquiring.ttlMillis() * 1_000_000;
    }

    Event acquiring() {
        return acquiring;
    }

    /** The same request is acquired once more. */
    void asksAgain(long now) {
        askedAt = now;
    }

    /** The time to live begins after the acquire. */
    void isGranted(Event event) {
        if (!granted) {
            granted = true;
            grantedAt = event.nanos();
            tokens = event.numbers();
            reused = event.detail().equals(Event.REUSED);
        }
        surelyUntil = Math.max(surelyUntil, askedAt + guaranteed);
    }

    void writes(long now) {
        writingAt = now;
    }

    /** The database has confirmed it in a transaction that began after the client said that it would write. */
    void isWritten() {
        surelyUntil = Math.max(surelyUntil, writingAt);
    }

    /** The client is about to release. */
    void isReleasing(Event event) {
        heldAtRelease = event.detail().equals(Event.HELD);
        ends(event.nanos());
    }

    /** From here on the permits may be available to others. */
    void ends(long now) {
        releasingAt = Math.min(releasingAt, now);
    }

    /** A repetition failed: what became of the grant after it had begun is not certain. */
    void isInDoubt() {
        ends(askedAt);
    }

    /**
     * The database has confirmed that the permits were held until the release. That of a reused permit is done without it, and the
     * answer about an expired one is not certain.
     */
    void isReleased(Event event) {
        if (event.detail().equals(Event.RELEASED) && heldAtRelease && !reused) {
            surelyUntil = Math.max(surelyUntil, releasingAt);
        }
    }

    /** Until when the permits are surely held. */
    long surelyUntil() {
        return Math.min(surelyUntil, releasingAt);
    }
}
