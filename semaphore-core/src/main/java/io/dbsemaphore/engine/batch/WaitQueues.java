package io.dbsemaphore.engine.batch;

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
 * by the lock of the {@link GrantQueue}.
 */
final class WaitQueues {

    private final Map<String, Waiters> byName = new HashMap<>();
    private final Predicate<String> closed;

    private static final class Waiters {

        private final WaitQueue waiting = new WaitQueue();
        private PermitShortage latest;
        private long free;
        private long freeAtMost = Long.MAX_VALUE;
        private long changedAt = System.nanoTime();

        private Waiters(PermitShortage latest) {
            this.latest = latest;
        }
    }

    /**
     * Makes them.
     *
     * @param closed tells at which semaphores nobody is woken for the moment, since what is free is left to others
     */
    WaitQueues(Predicate<String> closed) {
        this.closed = closed;
    }

    /** The names that somebody waits for. */
    Set<String> names() {
        return Set.copyOf(byName.keySet());
    }

    boolean isEmpty() {
        return byName.isEmpty();
    }

    boolean isAwaited(String name) {
        return byName.containsKey(name);
    }

    /** Whether somebody waits for one of these. */
    boolean isAwaited(Collection<String> names) {
        return names.stream().anyMatch(byName::containsKey);
    }

    /** Lets it wait where it was refused. */
    void park(QueuedAcquire pending, List<PermitShortage> shortages) {
        for (PermitShortage shortage : shortages) {
            String name = shortage.name();
            Waiters waiters = byName.computeIfAbsent(name, each -> new Waiters(shortage));
            long asked = Math.max(1, shortage.requested());
            waiters.waiting.add(pending, asked);
            waiters.changedAt = System.nanoTime();
            pending.shortOf().put(name, asked);
            if (isFirst(pending, waiters) && pending.command().demandAhead(name) == 0) {
                waiters.freeAtMost = asked - 1; // whatever the numbers are, it was too little
            }
        }
    }

    /** Takes it out of all lines. */
    void remove(QueuedAcquire pending) {
        pending.shortOf().keySet().forEach(name -> {
            Waiters waiters = byName.get(name);
            if (waiters != null && waiters.waiting.remove(pending) && waiters.waiting.isEmpty()) {
                byName.remove(name);
            }
        });
        pending.shortOf().clear();
    }

    /**
     * How many permits those have been waiting for who came before this one, for each of its names. Where nobody is woken
     * for the moment, others wait for all that there is.
     */
    Map<String, Long> demandAhead(QueuedAcquire pending) {
        Map<String, Long> asked = new HashMap<>();
        for (String name : pending.names()) {
            Waiters waiters = byName.get(name);
            if (closed.test(name)) {
                asked.put(name, (long) Integer.MAX_VALUE);
            } else if (waiters != null) {
                asked.put(name, waiters.waiting.demandAhead(pending.ticket()));
            }
        }
        return asked;
    }

    /** More is free than was thought, or less. */
    void add(String name, long permits) {
        Waiters waiters = byName.get(name);
        if (waiters != null) {
            waiters.free += permits;
            waiters.changedAt = System.nanoTime();
        }
    }

    /** A batch has left so much free. */
    void batch(String name, long free) {
        Waiters waiters = byName.get(name);
        if (waiters != null) {
            waiters.free = Math.min(free, waiters.freeAtMost);
            waiters.freeAtMost = Long.MAX_VALUE;
            waiters.changedAt = System.nanoTime();
        }
    }

    /** Somebody was refused with these numbers, which are newer than those that the ones who wait were told. */
    void refused(List<PermitShortage> shortages) {
        shortages.forEach(shortage -> {
            Waiters waiters = byName.get(shortage.name());
            if (waiters != null) {
                waiters.latest = shortage;
            }
        });
    }

    /** What is in the way of one that waits, by the latest numbers. */
    List<PermitShortage> shortages(QueuedAcquire pending) {
        List<PermitShortage> shortages = new ArrayList<>();
        pending.shortOf().forEach((name, asked) -> {
            Waiters waiters = byName.get(name);
            if (waiters != null) {
                PermitShortage latest = waiters.latest;
                shortages.add(new PermitShortage(
                        name, latest.capacity(), latest.held(), asked.intValue(), latest.earliestExpiry()));
            }
        });
        return shortages;
    }

    /** So much was free, unless more is known since. */
    void set(String name, long free, long asOf) {
        Waiters waiters = byName.get(name);
        if (waiters != null && waiters.changedAt - asOf < 0) {
            waiters.free = free;
        }
    }

    /** Whether the first in line needs more than is free. */
    boolean isShort(String name) {
        Waiters waiters = byName.get(name);
        QueuedAcquire first = waiters == null ? null : waiters.waiting.first();
        return waiters != null
                && first != null
                && waiters.free < first.shortOf().getOrDefault(name, 0L);
    }

    /** The first in line is worth a try, whatever is free: something may be taken back for it. */
    void wakeFirst(String name) {
        Waiters waiters = byName.get(name);
        QueuedAcquire first = waiters == null ? null : waiters.waiting.first();
        if (waiters != null && first != null) {
            waiters.free = Math.max(waiters.free, first.shortOf().getOrDefault(name, 0L));
        }
    }

    /**
     * Takes those out of the lines of these names whose turn has come.
     *
     * @param taken is told what is free no more
     */
    List<QueuedAcquire> wake(Collection<String> names, ObjLongConsumer<String> taken) {
        List<QueuedAcquire> woken = new ArrayList<>();
        for (String name : names) {
            Waiters waiters = byName.get(name);
            QueuedAcquire first = waiters == null ? null : waiters.waiting.first();
            while (waiters != null && first != null && isTurnOf(first)) {
                first.shortOf().forEach((each, permits) -> {
                    add(each, -permits);
                    taken.accept(each, permits);
                });
                woken.add(first);
                remove(first);
                first = waiters.waiting.first();
            }
        }
        return woken;
    }

    private boolean isTurnOf(QueuedAcquire pending) {
        return pending.shortOf().entrySet().stream().allMatch(entry -> {
            Waiters waiters = byName.get(entry.getKey());
            return waiters != null
                    && isFirst(pending, waiters)
                    && waiters.free >= entry.getValue()
                    && !closed.test(entry.getKey());
        });
    }

    private static boolean isFirst(QueuedAcquire pending, Waiters waiters) {
        return pending.equals(waiters.waiting.first());
    }

    /** Empties them, and returns who waited. */
    Collection<QueuedAcquire> clear() {
        Set<QueuedAcquire> all = new LinkedHashSet<>();
        byName.values().forEach(waiters -> waiters.waiting.forEach(all::add));
        byName.clear();
        all.forEach(pending -> pending.shortOf().clear());
        return all;
    }
}
