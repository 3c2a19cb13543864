package io.dbsemaphore.engine;

import io.dbsemaphore.PermitShortage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;

/**
 * Who waits for permits in this JVM: a {@link WaitQueue} for each semaphore. For each of them a guess is kept of how many
 * permits are free, so that somebody is woken when, and only when, it is probably worth while; the database decides. Guarded
 * by the lock of the {@link GrantBoard}.
 */
final class WaitingLines {

    private final Map<String, Line> lines = new HashMap<>();
    private final Predicate<String> closed;

    private static final class Line {

        private final WaitQueue waiting = new WaitQueue();
        private PermitShortage latest;
        private long free;
        private long freeAtMost = Long.MAX_VALUE;
        private long changedAt = System.nanoTime();

        private Line(PermitShortage latest) {
            this.latest = latest;
        }
    }

    /**
     * Makes them.
     *
     * @param closed tells at which semaphores nobody is woken for the moment, since what is free is left to others
     */
    WaitingLines(Predicate<String> closed) {
        this.closed = closed;
    }

    /** The names that somebody waits for. */
    Set<String> names() {
        return Set.copyOf(lines.keySet());
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    boolean isAwaited(String name) {
        return lines.containsKey(name);
    }

    /** Whether somebody waits for one of these. */
    boolean isAwaited(Collection<String> names) {
        return names.stream().anyMatch(lines::containsKey);
    }

    /** Lets it wait where it was refused. */
    void park(PendingGrant pending, List<PermitShortage> shortages) {
        for (PermitShortage shortage : shortages) {
            String name = shortage.name();
            Line line = lines.computeIfAbsent(name, each -> new Line(shortage));
            long asked = Math.max(1, shortage.requested());
            line.waiting.add(pending, asked);
            line.changedAt = System.nanoTime();
            pending.shortOf().put(name, asked);
            if (isFirst(pending, line) && pending.order().askedBefore(name) == 0) {
                line.freeAtMost = asked - 1; // whatever the numbers are, it was too little
            }
        }
    }

    /** Takes it out of all lines. */
    void remove(PendingGrant pending) {
        pending.shortOf().keySet().forEach(name -> {
            Line line = lines.get(name);
            if (line != null && line.waiting.remove(pending) && line.waiting.isEmpty()) {
                lines.remove(name);
            }
        });
        pending.shortOf().clear();
    }

    /**
     * How many permits those have been waiting for who came before this one, for each of its names. Where nobody is woken
     * for the moment, others wait for all that there is.
     */
    Map<String, Long> askedBefore(PendingGrant pending) {
        Map<String, Long> asked = new HashMap<>();
        for (String name : pending.names()) {
            Line line = lines.get(name);
            if (closed.test(name)) {
                asked.put(name, (long) Integer.MAX_VALUE);
            } else if (line != null) {
                asked.put(name, line.waiting.askedBefore(pending.ticket()));
            }
        }
        return asked;
    }

    /** More is free than was thought, or less. */
    void add(String name, long permits) {
        Line line = lines.get(name);
        if (line != null) {
            line.free += permits;
            line.changedAt = System.nanoTime();
        }
    }

    /** A batch has left so much free. */
    void batch(String name, long free) {
        Line line = lines.get(name);
        if (line != null) {
            line.free = Math.min(free, line.freeAtMost);
            line.freeAtMost = Long.MAX_VALUE;
            line.changedAt = System.nanoTime();
        }
    }

    /** Somebody was refused with these numbers, which are newer than those that the ones who wait were told. */
    void refused(List<PermitShortage> shortages) {
        shortages.forEach(shortage -> {
            Line line = lines.get(shortage.name());
            if (line != null) {
                line.latest = shortage;
            }
        });
    }

    /** What is in the way of one that waits, by the latest numbers. */
    List<PermitShortage> shortages(PendingGrant pending) {
        List<PermitShortage> shortages = new ArrayList<>();
        pending.shortOf().forEach((name, asked) -> {
            Line line = lines.get(name);
            if (line != null) {
                PermitShortage latest = line.latest;
                shortages.add(new PermitShortage(
                        name, latest.capacity(), latest.held(), asked.intValue(), latest.earliestExpiry()));
            }
        });
        return shortages;
    }

    /** So much was free, unless more is known since. */
    void set(String name, long free, long asOf) {
        Line line = lines.get(name);
        if (line != null && line.changedAt - asOf < 0) {
            line.free = free;
        }
    }

    /** Whether the first in line needs more than is free. */
    boolean isShort(String name) {
        Line line = lines.get(name);
        PendingGrant first = line == null ? null : line.waiting.first();
        return line != null && first != null && line.free < first.shortOf().getOrDefault(name, 0L);
    }

    /** The first in line is worth a try, whatever is free: something may be taken back for it. */
    void callFirst(String name) {
        Line line = lines.get(name);
        PendingGrant first = line == null ? null : line.waiting.first();
        if (line != null && first != null) {
            line.free = Math.max(line.free, first.shortOf().getOrDefault(name, 0L));
        }
    }

    /**
     * Takes those out of the lines of these names whose turn has come.
     *
     * @param taken is told what is free no more
     */
    List<PendingGrant> call(Collection<String> names, ObjLongConsumer<String> taken) {
        List<PendingGrant> called = new ArrayList<>();
        for (String name : names) {
            Line line = lines.get(name);
            PendingGrant first = line == null ? null : line.waiting.first();
            while (line != null && first != null && isTurnOf(first)) {
                first.shortOf().forEach((each, permits) -> {
                    add(each, -permits);
                    taken.accept(each, permits);
                });
                called.add(first);
                remove(first);
                first = line.waiting.first();
            }
        }
        return called;
    }

    private boolean isTurnOf(PendingGrant pending) {
        return pending.shortOf().entrySet().stream().allMatch(entry -> {
            Line line = lines.get(entry.getKey());
            return line != null
                    && isFirst(pending, line)
                    && line.free >= entry.getValue()
                    && !closed.test(entry.getKey());
        });
    }

    private static boolean isFirst(PendingGrant pending, Line line) {
        return pending.equals(line.waiting.first());
    }

    /** Empties them, and returns who waited. */
    Collection<PendingGrant> clear() {
        Set<PendingGrant> all = new LinkedHashSet<>();
        lines.values().forEach(line -> line.waiting.forEach(all::add));
        lines.clear();
        all.forEach(pending -> pending.shortOf().clear());
        return all;
    }
}
