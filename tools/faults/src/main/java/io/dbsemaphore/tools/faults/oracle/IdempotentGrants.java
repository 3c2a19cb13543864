package io.dbsemaphore.tools.faults.oracle;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds requests whose repetitions were granted with other tokens, that is, a second time. */
final class IdempotentGrants implements Check {

    private final Findings findings;
    private final Map<String, Map<String, Long>> tokens = new HashMap<>();
    private long repeated;

    IdempotentGrants(Findings findings) {
        this.findings = findings;
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (hold != null && event.kind() == Event.Kind.GRANTED && !hold.externalId.isEmpty()) {
            Map<String, Long> earlier = tokens.putIfAbsent(hold.externalId, event.numbers());
            if (earlier != null) {
                repeated++;
                if (!earlier.equals(event.numbers())) {
                    findings.add(
                            Findings.Kind.DOUBLE_GRANT,
                            "%s was granted with %s, and in %s with %s"
                                    .formatted(hold.externalId, earlier, event.request(), event.numbers()));
                }
            }
        }
    }

    /** How many grants repeated an earlier one. */
    long repeated() {
        return repeated;
    }
}
