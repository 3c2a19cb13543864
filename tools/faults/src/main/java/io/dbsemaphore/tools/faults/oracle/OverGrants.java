package io.dbsemaphore.tools.faults.oracle;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Finds the times at which more permits were surely held than the capacity. The time from a grant to its release or expiry is
 * cut where the clock of the oracle leaves any doubt, so that each finding is certain.
 */
final class OverGrants implements Check {

    private record Interval(long from, long to, long permits, String request) {}

    private record Edge(long nanos, boolean begins, Interval interval) {}

    private final Map<String, Integer> capacities;
    private final Findings findings;
    private final Map<String, List<Interval>> intervals = new TreeMap<>();

    OverGrants(Map<String, Integer> capacities, Findings findings) {
        this.capacities = capacities;
        this.findings = findings;
    }

    @Override
    public void ended(Hold hold) {
        if (hold.granted && hold.surelyUntil() > hold.grantedAt) {
            hold.permits.forEach((name, permits) -> intervals
                    .computeIfAbsent(name, any -> new ArrayList<>())
                    .add(new Interval(hold.grantedAt, hold.surelyUntil(), permits, hold.request)));
        }
    }

    @Override
    public void finish() {
        intervals.forEach((name, all) -> sweep(name, capacities.getOrDefault(name, 0), all));
    }

    private void sweep(String name, int capacity, List<Interval> all) {
        List<Edge> edges = new ArrayList<>(2 * all.size());
        for (Interval interval : all) {
            edges.add(new Edge(interval.from, true, interval));
            edges.add(new Edge(interval.to, false, interval));
        }
        edges.sort(Comparator.comparingLong(Edge::nanos).thenComparing(Edge::begins));
        Map<String, Long> held = new HashMap<>();
        long sum = 0;
        for (Edge edge : edges) {
            if (edge.begins) {
                sum += edge.interval.permits;
                held.merge(edge.interval.request, edge.interval.permits, Long::sum);
                if (sum > capacity) {
                    findings.add(
                            Findings.Kind.OVER_GRANT,
                            "%s: %d of %d held at %s, by %s"
                                    .formatted(name, sum, capacity, Oracle.time(edge.nanos), holders(held)));
                }
            } else {
                sum -= edge.interval.permits;
                held.remove(edge.interval.request);
            }
        }
    }

    private static String holders(Map<String, Long> held) {
        return held.entrySet().stream()
                .map(each -> each.getKey() + " (" + each.getValue() + ")")
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
