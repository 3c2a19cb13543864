package io.dbsemaphore.tools.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** An oracle that is given recorded lists of events. */
class RecordedEvents {

    private static final Map<String, Integer> CAPACITIES = Map.of("narrow", 1, "pair", 2, "reused", 2, "own-c1", 1);

    final Findings findings = new Findings();
    final Oracle oracle =
            new Oracle(CAPACITIES, Set.of("reused"), Duration.ofSeconds(6), Duration.ofSeconds(2), findings);

    /** Milliseconds, kind, client, request, external id, numbers, TTL, detail; "-" for an empty one. */
    void record(String events) {
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

    void finds(Findings.Kind kind) {
        assertThat(findings.count(kind)).as(findings.toString()).isPositive();
    }

    void findsNothing() {
        assertThat(findings.isEmpty()).as(findings.toString()).isTrue();
    }
}
