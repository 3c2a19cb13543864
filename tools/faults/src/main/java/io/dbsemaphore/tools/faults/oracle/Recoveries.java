package io.dbsemaphore.tools.faults.oracle;

import io.dbsemaphore.tools.faults.Workload;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long the permit that each client holds is away after the client was killed: until its successor is granted it. Late
 * is a violation where neither the server nor the network was disturbed meanwhile.
 */
final class Recoveries implements Check {

    /** A cut connection is replaced at once; a holder that pauses does nothing; the clock of a client is of no use. */
    private static final Pattern HARMLESS = Pattern.compile("cut|holder|client-clock");

    private final long timeout;
    private final long tolerated;
    private final Findings findings;
    private final Map<String, Long> killedAt = new HashMap<>();
    private final Map<String, Long> disturbedAt = new HashMap<>();
    private long count;
    private long undisturbed;
    private long longest;

    /** @param timeout after which the permits of a killed client are available */
    Recoveries(Duration timeout, Duration tolerated, Findings findings) {
        this.timeout = timeout.toNanos();
        this.tolerated = tolerated.toNanos();
        this.findings = findings;
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        switch (event.kind()) {
            case KILLED -> {
                if (killedAt.putIfAbsent(Workload.own(event.lineage()), event.nanos()) != null) {
                    disturb(event); // killed while it waited: an unknown grant may have delayed its successor
                }
            }
            case SERVER_DOWN, SERVER_READY, CALM -> disturb(event);
            case FAULT -> {
                if (!HARMLESS.matcher(event.detail()).lookingAt()) {
                    disturb(event);
                }
            }
            case GRANTED -> {
                if (hold != null && hold.permits.size() == 1) {
                    granted(
                            event,
                            hold,
                            killedAt.remove(hold.permits.keySet().iterator().next()));
                }
            }
            default -> {}
        }
    }

    private void granted(Event event, Hold hold, @Nullable Long killed) {
        if (killed == null) {
            return;
        }
        count++;
        if (isDisturbedSince(killed, event.lineage()) || isDisturbedSince(killed, Event.SERVER)) {
            return;
        }
        undisturbed++;
        long took = event.nanos() - killed;
        longest = Math.max(longest, took);
        long due = Math.max(killed + timeout, hold.firstAskedAt);
        if (event.nanos() > due + timeout / 3 + tolerated) { // a dead instance is read twice, a third apart
            findings.add(
                    Findings.Kind.LATE_RECOVERY,
                    "%s was granted %d ms after the kill of its holder, although the successor asked %d ms after it"
                            .formatted(hold.permits, took / 1_000_000, (hold.firstAskedAt - killed) / 1_000_000));
        }
    }

    private void disturb(Event event) {
        disturbedAt.put(event.lineage(), event.nanos());
    }

    private boolean isDisturbedSince(long killed, String victim) {
        return disturbedAt.getOrDefault(victim, Long.MIN_VALUE) > killed;
    }

    long count() {
        return count;
    }

    long undisturbed() {
        return undisturbed;
    }

    Duration longest() {
        return Duration.ofNanos(longest);
    }
}
