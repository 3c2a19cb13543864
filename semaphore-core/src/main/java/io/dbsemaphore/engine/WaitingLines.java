package io.dbsemaphore.engine;

import io.dbsemaphore.PermitShortage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who waits for permits in this JVM: a line for each semaphore, in the order in which they came. For each line a guess is
 * kept of how many permits are free, so that somebody is called when, and only when, it is probably worth while; the
 * database decides. Guarded by the lock of the {@link GrantBoard}.
 */
final class WaitingLines {

    private final Map<String, Line> lines = new HashMap<>();

    private static final class Line {

        private final TreeMap<Long, PendingGrant> waiting = new TreeMap<>();
        private long asked;
        private long free;
        private long changedAt = System.nanoTime();
    }

    /** The names that somebody waits for. */
    Set<String> names() {
        return Set.copyOf(lines.keySet());
    }

    /** Whether somebody waits for one of these. */
    boolean isAwaited(Collection<String> names) {
        return names.stream().anyMatch(lines::containsKey);
    }

    /** Lets it wait where it was refused. */
    void park(PendingGrant pending, List<PermitShortage> shortages) {
        for (PermitShortage shortage : shortages) {
            Line line = lines.computeIfAbsent(shortage.name(), name -> new Line());
            long asked = Math.max(1, shortage.requested());
            line.waiting.put(pending.ticket(), pending);
            line.asked += asked;
            line.changedAt = System.nanoTime();
            line.free = (long) shortage.capacity() - shortage.held();
            if (line.waiting.firstKey() == pending.ticket()) { // whatever the numbers are, it was too little
                line.free = Math.min(line.free, asked - 1);
            }
            pending.shortOf().put(shortage.name(), asked);
        }
    }

    /** Takes it out of all lines. */
    void remove(PendingGrant pending) {
        pending.shortOf().forEach((name, count) -> {
            Line line = lines.get(name);
            if (line != null && line.waiting.remove(pending.ticket()) != null) {
                line.asked -= count;
                if (line.waiting.isEmpty()) {
                    lines.remove(name);
                }
            }
        });
        pending.shortOf().clear();
    }

    /** How many permits those have been waiting for who came before this one, for each of its names. */
    Map<String, Long> askedBefore(PendingGrant pending) {
        Map<String, Long> asked = new HashMap<>();
        for (String name : pending.names()) {
            Line line = lines.get(name);
            if (line != null) {
                long before = line.waiting.lastKey() < pending.ticket()
                        ? line.asked
                        : line.waiting.headMap(pending.ticket()).values().stream()
                                .mapToLong(each -> each.shortOf().getOrDefault(name, 0L))
                                .sum();
                asked.put(name, before);
            }
        }
        return asked;
    }

    /** More is free than was thought. */
    void add(String name, long permits) {
        Line line = lines.get(name);
        if (line != null) {
            line.free += permits;
            line.changedAt = System.nanoTime();
        }
    }

    /** So much was free, unless more is known since. */
    void set(String name, long free, long asOf) {
        Line line = lines.get(name);
        if (line != null && line.changedAt - asOf < 0) {
            line.free = free;
        }
    }

    /** The first in line is worth a try, whatever is free: something may be taken back for it. */
    void callFirst(String name) {
        Line line = lines.get(name);
        if (line != null) {
            line.free = Math.max(
                    line.free, line.waiting.firstEntry().getValue().shortOf().getOrDefault(name, 0L));
        }
    }

    /** Takes those out of the lines of these names whose turn has come. */
    List<PendingGrant> call(Collection<String> names) {
        List<PendingGrant> called = new ArrayList<>();
        for (String name : names) {
            Line line = lines.get(name);
            while (line != null && !line.waiting.isEmpty()) {
                PendingGrant first = line.waiting.firstEntry().getValue();
                if (!isTurnOf(first)) {
                    break;
                }
                first.shortOf().forEach((each, count) -> add(each, -count));
                remove(first);
                called.add(first);
            }
        }
        return called;
    }

    private boolean isTurnOf(PendingGrant pending) {
        return pending.shortOf().entrySet().stream().allMatch(entry -> {
            Line line = lines.get(entry.getKey());
            return line != null && line.waiting.firstKey() == pending.ticket() && line.free >= entry.getValue();
        });
    }

    /** Everybody who waits. */
    List<PendingGrant> all() {
        return lines.values().stream()
                .flatMap(line -> line.waiting.values().stream())
                .distinct()
                .toList();
    }

    /** For people. */
    @Override
    public String toString() {
        Map<String, Integer> lengths = new HashMap<>();
        lines.forEach((name, line) -> lengths.put(name, line.waiting.size()));
        return "WaitingLines" + lengths;
    }
}
