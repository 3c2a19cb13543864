package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.domain.RemainingAvailability;
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
 * Who waits for permits in this JVM: {@link Waiters} for each semaphore. For each of them a guess is kept of how many
 * permits are free, so that somebody is woken when, and only when, it is probably worth while; the database decides. Guarded
 * by the lock of the {@link GrantQueue}.
 */
final class WaitQueues {

    private final Map<String, Waiters> byName = new HashMap<>();
    private final Predicate<String> closed;
    private final QueueClock clock;

    /**
     * Makes them.
     *
     * @param closed tells at which semaphores nobody is woken for the moment, since what is free is left to others
     */
    WaitQueues(Predicate<String> closed, QueueClock clock) {
        this.closed = closed;
        this.clock = clock;
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
    void park(QueuedAcquire pending) {
        for (PermitShortage shortage : pending.lastShortages()) {
            byName.computeIfAbsent(shortage.name(), name -> new Waiters(shortage, pending.begunAt(), clock))
                    .park(pending, shortage.requested());
        }
    }

    /**
     * Lets a caller that has just come wait without asking the database, where that has just said that there is too little
     * for this one beside those that wait already.
     *
     * @return whether it waits
     */
    boolean join(QueuedAcquire pending) {
        List<Waiters> full = new ArrayList<>();
        for (String name : pending.mayWaitUnasked() ? pending.names() : Set.<String>of()) {
            Waiters waiters = byName.get(name);
            if (waiters == null || !waiters.isKnownFor(pending)) {
                return false;
            }
            if (waiters.isShortFor(pending)) {
                full.add(waiters);
            }
        }
        full.forEach(waiters -> waiters.join(pending));
        return !full.isEmpty();
    }

    /** Takes it out of all lines. */
    void remove(QueuedAcquire pending) {
        pending.shortOf().keySet().forEach(name -> {
            Waiters waiters = byName.get(name);
            if (waiters != null
                    && waiters.waiting().remove(pending)
                    && waiters.waiting().isEmpty()) {
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
                asked.put(name, waiters.waiting().demandAhead(pending.ticket()));
            }
        }
        return asked;
    }

    /** More is free than was thought, or less. */
    void add(String name, long permits) {
        Waiters waiters = byName.get(name);
        if (waiters != null) {
            waiters.add(permits);
        }
    }

    /**
     * A batch has left this.
     *
     * @param changed by how many permits what is free has changed since the batch asked
     * @param asOf this JVM's clock before the batch asked
     */
    void batch(String name, RemainingAvailability left, long changed, long asOf) {
        Waiters waiters = byName.get(name);
        if (waiters != null) {
            waiters.batch(left, changed, asOf);
        }
    }

    /** Somebody was refused with these numbers, which are newer than those that the ones who wait were told. */
    void refused(List<PermitShortage> shortages) {
        shortages.forEach(shortage -> {
            Waiters waiters = byName.get(shortage.name());
            if (waiters != null) {
                waiters.refused(shortage);
            }
        });
    }

    /** What is in the way of one that waits, by the latest numbers; nothing where these are older than it. */
    List<PermitShortage> shortages(QueuedAcquire pending) {
        List<PermitShortage> shortages = new ArrayList<>();
        for (String name : pending.shortOf().keySet()) {
            Waiters waiters = byName.get(name);
            if (waiters == null || !waiters.isAnsweredFor(pending)) {
                return List.of();
            }
            shortages.add(waiters.shortageOf(pending));
        }
        return shortages;
    }

    /** The poller has read this; it counts unless more is known since. */
    void polled(String name, PolledAvailability polled, long asOf) {
        Waiters waiters = byName.get(name);
        if (waiters != null) {
            waiters.polled(polled, asOf);
        }
    }

    /** Whether the first in line needs more than is free. */
    boolean isShort(String name) {
        Waiters waiters = byName.get(name);
        QueuedAcquire first = waiters == null ? null : waiters.first();
        return waiters != null
                && first != null
                && waiters.free() < first.shortOf().getOrDefault(name, 0L);
    }

    /** The first in line is worth a try, whatever is free: something may be taken back for it. */
    void wakeFirst(String name) {
        Waiters waiters = byName.get(name);
        QueuedAcquire first = waiters == null ? null : waiters.first();
        if (waiters != null && first != null) {
            waiters.raiseFree(first.shortOf().getOrDefault(name, 0L));
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
            QueuedAcquire first = waiters == null ? null : waiters.first();
            while (waiters != null && first != null && isTurnOf(first)) {
                first.shortOf().forEach((each, permits) -> {
                    add(each, -permits);
                    taken.accept(each, permits);
                });
                woken.add(first);
                remove(first);
                first = waiters.first();
            }
        }
        return woken;
    }

    private boolean isTurnOf(QueuedAcquire pending) {
        return pending.shortOf().entrySet().stream().allMatch(entry -> {
            Waiters waiters = byName.get(entry.getKey());
            return waiters != null
                    && waiters.isFirst(pending)
                    && waiters.free() >= entry.getValue()
                    && !closed.test(entry.getKey());
        });
    }

    /** Empties them, and returns who waited. */
    Collection<QueuedAcquire> clear() {
        Set<QueuedAcquire> all = new LinkedHashSet<>();
        byName.values().forEach(waiters -> waiters.waiting().forEach(all::add));
        byName.clear();
        all.forEach(pending -> pending.shortOf().clear());
        return all;
    }
}
