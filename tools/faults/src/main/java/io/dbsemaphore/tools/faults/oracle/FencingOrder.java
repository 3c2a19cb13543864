package io.dbsemaphore.tools.faults.oracle;

import static io.dbsemaphore.tools.faults.oracle.Event.Kind.ACQUIRING;
import static io.dbsemaphore.tools.faults.oracle.Event.Kind.GRANTED;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds fencing tokens that were granted twice, or that are not above one whose grant was reported before the acquire began.
 * Of permits that are reused, the tokens of each holder rise, but those of two holders alternate: they are compared with the
 * earlier uses of the same grant only.
 */
final class FencingOrder implements Check {

    private record Last(long token, long nanos) {}

    private final Set<String> reusing;
    private final Findings findings;
    private final Map<String, Long> highest = new HashMap<>();
    private final Map<String, Set<Long>> granted = new HashMap<>();
    private final Map<String, Last> lastUse = new HashMap<>();
    private final Map<Hold, Map<String, Long>> before = new HashMap<>();

    FencingOrder(Set<String> reusing, Findings findings) {
        this.reusing = reusing;
        this.findings = findings;
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (hold == null) {
            return;
        }
        if (event.kind() == ACQUIRING && !before.containsKey(hold)) {
            Map<String, Long> snapshot = new HashMap<>();
            event.numbers().keySet().forEach(name -> snapshot.put(name, highest.getOrDefault(name, Long.MIN_VALUE)));
            before.put(hold, snapshot);
        } else if (event.kind() == GRANTED && hold.grantedAt == event.nanos()) {
            Map<String, Long> snapshot = before.getOrDefault(hold, Map.of());
            boolean replayed = event.detail().equals(Event.REPLAYED);
            event.numbers().forEach((name, token) -> check(event, hold, replayed, name, token, snapshot));
        }
    }

    @Override
    public void ended(Hold hold) {
        before.remove(hold);
    }

    private void check(Event event, Hold hold, boolean replayed, String name, long token, Map<String, Long> snapshot) {
        if (!granted.computeIfAbsent(name, any -> new HashSet<>()).add(token) && !replayed) {
            wrong("%s: token %d of %s was granted before".formatted(name, token, hold.request));
        }
        if (reusing.contains(name)) {
            String grant = event.externalId().replaceFirst("#\\d+$", "");
            Last last = lastUse.get(grant);
            if (last != null && last.nanos < hold.firstAskedAt && token <= last.token) {
                wrong("%s: token %d of %s follows %d".formatted(name, token, hold.request, last.token));
            }
            lastUse.put(grant, new Last(token, event.nanos()));
        } else if (!replayed) {
            long highestBefore = snapshot.getOrDefault(name, Long.MIN_VALUE);
            if (token <= highestBefore) {
                wrong("%s: token %d of %s follows %d".formatted(name, token, hold.request, highestBefore));
            }
            highest.merge(name, token, Math::max);
        }
    }

    private void wrong(String what) {
        findings.add(Findings.Kind.FENCING, what);
    }
}
