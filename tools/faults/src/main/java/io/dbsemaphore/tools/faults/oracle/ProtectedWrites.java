package io.dbsemaphore.tools.faults.oracle;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds writes under {@code requireHeld} that were committed although the permit, the only one of its semaphore, had been granted
 * to another before the write began, and writes that were refused while it was surely held.
 */
final class ProtectedWrites implements Check {

    private final Findings findings;
    private final Map<String, Hold> latest = new HashMap<>();
    private final Map<Hold, Hold> overtakenBy = new HashMap<>();
    private long written;
    private long refused;

    ProtectedWrites(Findings findings) {
        this.findings = findings;
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (hold == null) {
            return;
        }
        switch (event.kind()) {
            case GRANTED ->
                latest.merge(semaphore(hold), hold, (one, other) -> token(one) > token(other) ? one : other);
            case WRITING -> begins(hold);
            case WRITTEN -> {
                written++;
                if (overtakenBy.containsKey(hold)) {
                    findings.add(
                            Findings.Kind.STALE_WRITE,
                            "%s wrote with %s after %s had been granted %s"
                                    .formatted(
                                            hold.request,
                                            hold.tokens,
                                            overtakenBy.get(hold).request,
                                            overtakenBy.get(hold).tokens));
                }
            }
            case STALE_WRITE -> findings.add(Findings.Kind.STALE_WRITE, hold.request + " " + event.detail());
            case WRITE_REFUSED -> {
                refused++;
                if (event.nanos() < hold.surelyUntil()) {
                    findings.add(
                            Findings.Kind.REFUSED_WRITE,
                            "%s was refused %d ms before its expiry"
                                    .formatted(hold.request, (hold.surelyUntil() - event.nanos()) / 1_000_000));
                }
            }
            default -> {}
        }
    }

    @Override
    public void ended(Hold hold) {
        overtakenBy.remove(hold);
    }

    private void begins(Hold hold) {
        Hold holder = latest.get(semaphore(hold));
        if (holder != null && holder != hold && token(holder) > token(hold)) {
            overtakenBy.put(hold, holder);
        }
    }

    private static String semaphore(Hold hold) {
        return hold.permits.keySet().iterator().next();
    }

    private static long token(Hold hold) {
        return hold.tokens.values().iterator().next();
    }

    long written() {
        return written;
    }

    long refused() {
        return refused;
    }
}
