package io.dbsemaphore.tools.faults.oracle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the clients that lived longest used in the first half of their lives, and in the second: the median of each, so that neither an
 * attack nor a moment of load counts.
 */
final class Growth implements Check {

    private static final int CLIENTS = 3;
    private static final int FEWEST = 2;

    private final Map<String, List<Event>> reports = new HashMap<>();

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (event.kind() == Event.Kind.USAGE) {
            reports.computeIfAbsent(event.client(), any -> new ArrayList<>()).add(event);
        }
    }

    /** The clients that lived longest, each with a line. */
    Map<String, String> lines() {
        Map<String, String> lines = new TreeMap<>();
        reports.values().stream()
                .filter(each -> each.size() >= FEWEST)
                .sorted(Comparator.comparingLong(Growth::lifetime).reversed())
                .limit(CLIENTS)
                .forEach(each -> lines.put(
                        "%s, for %d s"
                                .formatted(
                                        each.get(0).client(),
                                        Duration.ofNanos(lifetime(each)).toSeconds()),
                        line(each)));
        return lines;
    }

    private static String line(List<Event> reports) {
        Map<String, String> growth = new TreeMap<>();
        for (String name : reports.get(0).numbers().keySet()) {
            growth.put(
                    name,
                    median(name, reports.subList(0, reports.size() / 2)) + " → "
                            + median(name, reports.subList(reports.size() / 2, reports.size())));
        }
        return growth.toString();
    }

    private static String median(String name, List<Event> reports) {
        List<Long> values = reports.stream()
                .map(Event::numbers)
                .filter(each -> each.containsKey(name))
                .map(each -> each.get(name))
                .sorted()
                .toList();
        return values.isEmpty() ? "?" : String.valueOf(values.get(values.size() / 2));
    }

    private static long lifetime(List<Event> reports) {
        return reports.get(reports.size() - 1).nanos() - reports.get(0).nanos();
    }
}
